"""Questions of users and of a first week to repositories that nobody here wrote, answered by quotes."""
