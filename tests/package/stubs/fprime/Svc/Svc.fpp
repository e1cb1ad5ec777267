# Stands for the ports of F´'s rate groups and of its health (F´ 4.1.0: Svc/Sched, Svc/Ping).
module Svc {
  port Sched(context: U32)
  port Ping(key: U32)
}
