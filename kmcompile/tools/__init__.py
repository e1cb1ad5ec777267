"""External programs: finding them, running them, how long they may take, what to install."""
