"""The manual: one Markdown file a topic in this folder, which `kmcompile manual TOPIC` shows."""
