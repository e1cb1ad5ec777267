"""The trained machine in float64: its parts, its reference answers, and likely inputs."""
