"""What hosts of agents tell Clew while somebody works, and what Clew tells them: capture and injection by hooks."""
