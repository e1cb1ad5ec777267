/* Stands for Zephyr's header: the sample needs nothing of it. */
