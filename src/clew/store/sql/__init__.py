"""What the engines that speak SQL share: every statement of the contract, in the words that all of them understand."""
