"""External programs: finding them, running them within a time limit, what to install."""
