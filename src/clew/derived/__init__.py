"""What was made from something else and can be thrown away and made again."""
