# Stands for the port of F´'s rate groups.
module Svc {
  port Sched(context: U32)
}
