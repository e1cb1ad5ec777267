# Stands for the special ports of F´ 4.1.0, their types and interfaces: Fw/Cmd, Fw/Log, Fw/Tlm,
# Fw/Time, Fw/Interfaces and default/config.
dictionary type FwOpcodeType = U32
dictionary type FwEventIdType = U32
dictionary type FwChanIdType = U32

module Fw {

  type CmdArgBuffer
  type LogBuffer
  type TextLogString
  type TlmBuffer
  type Time

  enum CmdResponse : U8 {
    OK, INVALID_OPCODE, VALIDATION_ERROR, FORMAT_ERROR, EXECUTION_ERROR, BUSY
  }

  enum LogSeverity : U8 {
    FATAL = 1, WARNING_HI = 2, WARNING_LO = 3, COMMAND = 4, ACTIVITY_HI = 5, ACTIVITY_LO = 6
    DIAGNOSTIC = 7
  }

  port CmdReg(opCode: FwOpcodeType)
  port Cmd(opCode: FwOpcodeType, cmdSeq: U32, ref args: CmdArgBuffer)
  port CmdResponse(opCode: FwOpcodeType, cmdSeq: U32, response: CmdResponse)
  port Log($id: FwEventIdType, ref timeTag: Time, $severity: LogSeverity, ref args: LogBuffer)
  port LogText(
    $id: FwEventIdType, ref timeTag: Time, $severity: LogSeverity, ref $text: TextLogString
  )
  port Tlm($id: FwChanIdType, ref timeTag: Time, ref val: TlmBuffer)
  port Time(ref $time: Time)

  interface Command {
    command reg port cmdRegOut
    command recv port cmdIn
    command resp port cmdResponseOut
  }

  interface Event {
    text event port logTextOut
    event port logOut
  }

  interface Channel {
    telemetry port tlmOut
  }

}
