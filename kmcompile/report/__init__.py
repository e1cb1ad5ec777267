"""The report: report.json, report.html and what the terminal shows."""
