"""What `--monitor` asks for: a score of inputs, and a limit that hardly any usual input exceeds."""
