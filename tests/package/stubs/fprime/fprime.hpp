// Stands for the headers of F´ that FPP's autocoder includes: as much as one component and its
// unit test need. Names and types are those of F´ 4.1.0 (Fw/Types, Fw/Port, Fw/Comp, Os); the
// constructor of LinearBufferBase is the one that the code of FPP 3.4 calls. Serialization keeps
// the host's byte order. Without text events, object names and serial ports, as F´ can be
// configured.
#ifndef FPRIME_HPP
#define FPRIME_HPP
#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

#define FW_PORT_SERIALIZATION 0
#define FW_PORT_TRACING 0
#define FW_OBJECT_NAMES 0
#define FW_ENABLE_TEXT_LOGGING 0
#define FW_SERIALIZABLE_TO_STRING 1
#define FW_AMPCS_COMPATIBLE 0
#define FW_CMD_CHECK_RESIDUAL 1
#define FW_DIRECT_PORT_CALLS 0
#define PRI_FwIndexType PRId16
#define FW_ASSERT(condition, ...) ((condition) ? static_cast<void>(0) : std::abort())

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I8 = std::int8_t;
using I16 = std::int16_t;
using I32 = std::int32_t;
using I64 = std::int64_t;
using F32 = float;
using F64 = double;
using BYTE = std::uint8_t;
using CHAR = char;
using FwSizeType = std::uint64_t;
using FwIndexType = std::int16_t;
using FwEnumStoreType = std::int32_t;
using FwAssertArgType = std::int32_t;
using FwQueuePriorityType = std::uint8_t;
using FwIdType = U32;
using FwOpcodeType = FwIdType;
using FwEventIdType = FwIdType;
using FwChanIdType = FwIdType;

enum class TimeBase { TB_NONE };

namespace Fw {

enum SerializeStatus { FW_SERIALIZE_OK, FW_SERIALIZE_NO_ROOM_LEFT, FW_DESERIALIZE_FORMAT_ERROR };
enum class Endianness { BIG, LITTLE };

class StringBase {
  public:
    const CHAR* toChar() const { return m_text.c_str(); }
    StringBase& operator=(const CHAR* text) { m_text = text; return *this; }
    void operator+=(const CHAR* text) { m_text += text; }
    void operator+=(const StringBase& text) { m_text += text.m_text; }
    void format(const CHAR* formatString, ...) {
        char text[256];
        va_list args;
        va_start(args, formatString);
        (void)std::vsnprintf(text, sizeof text, formatString, args);
        va_end(args);
        m_text = text;
    }

  private:
    std::string m_text;
};
inline std::ostream& operator<<(std::ostream& stream, const StringBase& text) {
    return stream << text.toChar();
}
using String = StringBase;
using ObjectName = StringBase;

class SerialBufferBase;

class Serializable {
  public:
    using SizeType = FwSizeType;
    virtual ~Serializable() = default;
    virtual SerializeStatus serializeTo(SerialBufferBase&, Endianness = Endianness::BIG) const = 0;
    virtual SerializeStatus deserializeFrom(SerialBufferBase&, Endianness = Endianness::BIG) = 0;
};

class SerialBufferBase {
  public:
    SerialBufferBase(U8* buffer, FwSizeType capacity) : m_buffer(buffer), m_capacity(capacity) {}

    SerializeStatus serializeFrom(const Serializable& value, Endianness = Endianness::BIG) {
        return value.serializeTo(*this);
    }
    SerializeStatus deserializeTo(Serializable& value, Endianness = Endianness::BIG) {
        return value.deserializeFrom(*this);
    }
    SerializeStatus serializeFrom(SerialBufferBase& other, Endianness = Endianness::BIG) {
        return this->put(other.m_buffer, other.m_size);
    }
    SerializeStatus deserializeTo(SerialBufferBase& other, Endianness = Endianness::BIG) {
        return other.put(m_buffer + m_read, this->getDeserializeSizeLeft());
    }
    template <typename T, typename = decltype(static_cast<F64>(T()))>
    SerializeStatus serializeFrom(const T& value, Endianness = Endianness::BIG) {
        return this->put(reinterpret_cast<const U8*>(&value), sizeof value);
    }
    template <typename T, typename = decltype(static_cast<F64>(T()))>
    SerializeStatus deserializeTo(T& value, Endianness = Endianness::BIG) {
        if (this->getDeserializeSizeLeft() < sizeof value) {
            return FW_DESERIALIZE_FORMAT_ERROR;
        }
        (void)std::memcpy(&value, m_buffer + m_read, sizeof value);
        m_read += sizeof value;
        return FW_SERIALIZE_OK;
    }
    void resetSer() { m_size = 0; }
    void resetDeser() { m_read = 0; }
    FwSizeType getSize() const { return m_size; }
    FwSizeType getDeserializeSizeLeft() const { return m_size - m_read; }
    U8* getBuffAddr() { return m_buffer; }
    SerializeStatus setBuff(const U8* bytes, FwSizeType size) {
        m_size = 0;
        m_read = 0;
        return this->put(bytes, size);
    }

  private:
    SerializeStatus put(const U8* bytes, FwSizeType size) {
        if (m_size + size > m_capacity) {
            return FW_SERIALIZE_NO_ROOM_LEFT;
        }
        (void)std::memcpy(m_buffer + m_size, bytes, size);
        m_size += size;
        return FW_SERIALIZE_OK;
    }

    U8* m_buffer;
    FwSizeType m_capacity;
    FwSizeType m_size = 0;
    FwSizeType m_read = 0;
};
using LinearBufferBase = SerialBufferBase;

//! A buffer with its memory, as those of commands, events and telemetry are.
class ComBuffer : public LinearBufferBase {
  public:
    static constexpr FwSizeType SERIALIZED_SIZE = 512;
    ComBuffer() : LinearBufferBase(m_bytes, sizeof m_bytes) {}
    ComBuffer(const ComBuffer& other) : ComBuffer() { *this = other; }
    ComBuffer& operator=(const ComBuffer& other) {
        (void)this->setBuff(other.m_bytes, other.getSize());
        return *this;
    }

  private:
    U8 m_bytes[SERIALIZED_SIZE];
};
using CmdArgBuffer = ComBuffer;
using LogBuffer = ComBuffer;
using TlmBuffer = ComBuffer;
using TextLogString = ComBuffer;

class Time : public Serializable {
  public:
    static constexpr FwSizeType SERIALIZED_SIZE = sizeof(U64);
    Time() = default;
    Time(TimeBase, U32 seconds, U32 useconds) : m_useconds(seconds * 1000000ULL + useconds) {}
    SerializeStatus serializeTo(SerialBufferBase& buffer, Endianness) const override {
        return buffer.serializeFrom(m_useconds);
    }
    SerializeStatus deserializeFrom(SerialBufferBase& buffer, Endianness) override {
        return buffer.deserializeTo(m_useconds);
    }
    bool operator==(const Time& other) const { return m_useconds == other.m_useconds; }

  private:
    U64 m_useconds = 0;
};
static const Time ZERO_TIME;

class PassiveComponentBase {
  public:
    void setIdBase(FwIdType idBase) { m_idBase = idBase; }
    FwIdType getIdBase() const { return m_idBase; }

  protected:
    explicit PassiveComponentBase(const char*) {}
    virtual ~PassiveComponentBase() = default;
    void init(FwEnumStoreType) {}

  private:
    FwIdType m_idBase = 0;
};

class PortBase {
  public:
    bool isConnected() const { return m_connObj != nullptr; }

  protected:
    void init() {}
    const void* m_connObj = nullptr;
};

class InputPortBase : public PortBase {
  public:
    void setPortNum(FwIndexType portNum) { m_portNum = portNum; }

  protected:
    PassiveComponentBase* m_comp = nullptr;
    FwIndexType m_portNum = 0;
};

class OutputPortBase : public PortBase {};

}  // namespace Fw

namespace Os {

//! One thread is all that a unit test has. A guard that is taken twice is a deadlock.
class Mutex {
  public:
    void lock() { FW_ASSERT(!m_locked); m_locked = true; }
    void unLock() { FW_ASSERT(m_locked); m_locked = false; }

  private:
    bool m_locked = false;
};

class Queue {
  public:
    enum Status { OP_OK, EMPTY, FULL };
    enum BlockingType { BLOCKING, NONBLOCKING };
    void create(FwSizeType depth) { m_depth = depth; }
    Status send(Fw::SerialBufferBase& message, FwQueuePriorityType, BlockingType) {
        if (m_messages.size() >= m_depth) {
            return FULL;
        }
        const U8* const bytes = message.getBuffAddr();
        m_messages.emplace_back(bytes, bytes + message.getSize());
        return OP_OK;
    }
    Status receive(Fw::SerialBufferBase& message, BlockingType, FwQueuePriorityType&) {
        if (m_messages.empty()) {
            return EMPTY;
        }
        (void)message.setBuff(m_messages.front().data(), m_messages.front().size());
        m_messages.pop_front();
        return OP_OK;
    }
    FwSizeType getMessagesAvailable() const { return m_messages.size(); }

  private:
    FwSizeType m_depth = 0;
    std::deque<std::vector<U8>> m_messages;
};

}  // namespace Os

namespace Fw {

class QueuedComponentBase : public PassiveComponentBase {
  public:
    enum MsgDispatchStatus {
        MSG_DISPATCH_OK, MSG_DISPATCH_EMPTY, MSG_DISPATCH_ERROR, MSG_DISPATCH_EXIT
    };

  protected:
    using PassiveComponentBase::PassiveComponentBase;
    void deinit() {}
    Os::Queue::Status createQueue(FwSizeType depth, FwSizeType) {
        m_queue.create(depth);
        return Os::Queue::OP_OK;
    }
    void incNumMsgDropped() { m_msgsDropped++; }
    virtual MsgDispatchStatus doDispatch() = 0;
    Os::Queue m_queue;

  private:
    FwSizeType m_msgsDropped = 0;
};

class ActiveComponentBase : public QueuedComponentBase {
  public:
    enum { ACTIVE_COMPONENT_EXIT };

  protected:
    using QueuedComponentBase::QueuedComponentBase;
};

}  // namespace Fw
#endif
