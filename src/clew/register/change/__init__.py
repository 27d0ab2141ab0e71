"""Every change of a register, each as one transaction."""
