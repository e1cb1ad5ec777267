"""What happens to an input before the first early exit."""
