"""Programs that measure themselves in a fresh process and print what they found as JSON."""
