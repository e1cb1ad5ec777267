"""The manual: one Markdown file for each topic, which `kmcompile manual TOPIC` shows."""
