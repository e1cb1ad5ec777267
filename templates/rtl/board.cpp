// Runs an image of a RISC-V board on a core's own logic, which Verilator has made a class of, and
// counts the instructions and the cycles of every call of some functions, callees included.
// Arguments: flash=ORIGIN:BYTES, ram=ORIGIN:BYTES, image=FILE of the bytes of the flash, out=FILE,
// entry=ADDRESS for each function, and unprotected=1 for a core without protection of memory. A line of the file out is the number of the function, as
// they are given, the instructions and the cycles. The exit code is that of the image.
//
// Memory takes one cycle. A call begins when the call instruction has retired and ends when the
// return has retired. A counter beside the core tells the cycles, its own if it has one that runs;
// the testbench counts them, too, and both must be the same.
//
// Semihosting is three instructions of the image: while the image is loaded they become two stores
// and a load of a device of the testbench, which does what an emulator does. An exception, or data
// where no memory is, ends the run as the image's own handler would: the cores can't have their
// handlers at any address. Code where no memory is reads as 0, which is no instruction.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "Vboard.h"
#include "verilated.h"

namespace {

constexpr int FAILED = 1;
constexpr int FAULT = 99; // exit code of an image that takes an exception

constexpr uint32_t DEVICE = 0xFFFFFFF0U; // operation, argument, result
constexpr uint32_t CALL[] = {
    0x01F01013U, // slli zero, zero, 0x1f
    0x00100073U, // ebreak
    0x40705013U, // srai zero, zero, 7
};
constexpr uint32_t DEVICE_CALL[] = {
    0xFEA02823U, // sw a0, -16(zero)
    0xFEB02A23U, // sw a1, -12(zero)
    0xFF802503U, // lw a0, -8(zero)
};

constexpr uint32_t WRITE_PMPADDR0 = 0x3B001073U; // csrw pmpaddr0, zero
constexpr uint32_t WRITE_PMPCFG0 = 0x3A001073U;  // csrw pmpcfg0, zero
constexpr uint32_t SOURCE = 0x000F8000U;         // bits of the register that is written
constexpr uint32_t NOTHING = 0x00000013U;        // nop

// Where the core starts: BOOT_OFFSET behind its boot address, a jump to the image's first word.
constexpr uint32_t BOOT_SPAN = 0x100U;
constexpr uint32_t BOOT_OFFSET = 0x80U;
constexpr uint32_t JUMP = 0x0800006FU; // j .+128

constexpr uint32_t SYS_OPEN = 0x01U;
constexpr uint32_t SYS_WRITE = 0x05U;
constexpr uint32_t SYS_READ = 0x06U;
constexpr uint32_t SYS_EXIT_EXTENDED = 0x20U;
constexpr uint32_t MODE_READ = 1U; // "rb"

struct Memory {
    uint32_t origin = 0U;
    std::vector<uint32_t> words;

    bool holds(uint32_t address) const
    {
        return ((address - origin) / 4U) < words.size();
    }
    uint32_t &at(uint32_t address)
    {
        return words[(address - origin) / 4U];
    }
};

struct Files {
    std::vector<std::FILE *> all;

    ~Files()
    {
        for (std::FILE *file : all) {
            std::fclose(file);
        }
    }
    std::FILE *of(uint32_t number) const
    {
        return (number < all.size()) ? all[number] : nullptr;
    }
};

class Board {
public:
    Memory boot;
    Memory flash;
    Memory ram;
    std::vector<uint32_t> entries;
    std::FILE *out = nullptr;

    int run();

private:
    Vboard core;
    Files files;
    uint32_t operation = 0U;
    uint32_t argument = 0U;
    bool ended = false;
    int code = FAILED;

    bool inside = false;
    size_t entered = 0U;
    uint32_t back = 0U;
    uint64_t count = 0U;
    uint64_t start = 0U;     // the core's cycles when the call had retired
    uint64_t started_at = 0U; // those of the testbench
    uint64_t before = 0U;    // cycles when the instruction before retired
    uint64_t before_at = 0U;
    uint32_t behind = 0U;    // address behind that instruction

    Memory *of(uint32_t address);
    void fetch(uint32_t address);
    void access(bool writes, uint32_t address, uint32_t bytes, uint32_t word);
    void retire(uint64_t now);
    void leave(int with);
    uint32_t serve();
    uint32_t word_at(uint32_t address);
    uint32_t transfer(uint32_t block, bool reads);
};

Memory *Board::of(uint32_t address)
{
    for (Memory *one : {&flash, &ram, &boot}) {
        if (one->holds(address)) {
            return one;
        }
    }
    return nullptr;
}

void Board::leave(int with)
{
    ended = true;
    code = with;
}

uint32_t Board::word_at(uint32_t address)
{
    Memory *memory = of(address);
    return (memory != nullptr) ? memory->at(address) : 0U;
}

// Read or write bytes of a file; returns how many were not.
uint32_t Board::transfer(uint32_t block, bool reads)
{
    std::FILE *file = files.of(word_at(block));
    const uint32_t from = word_at(block + 4U);
    const uint32_t n = word_at(block + 8U);
    Memory *memory = of(from);
    if ((file == nullptr) || (memory == nullptr)
        || (n > ((memory->words.size() * 4U) - (from - memory->origin)))) {
        return n;
    }
    uint8_t *bytes = reinterpret_cast<uint8_t *>(memory->words.data()) + (from - memory->origin);
    return n - static_cast<uint32_t>(reads ? std::fread(bytes, 1U, n, file)
                                           : std::fwrite(bytes, 1U, n, file));
}

// What the device returns for an operation and its argument, the address of a block of words.
uint32_t Board::serve()
{
    switch (operation) {
    case SYS_OPEN: {
        const uint32_t from = word_at(argument);
        const uint32_t length = word_at(argument + 8U);
        std::string name;
        for (uint32_t i = 0U; i < length; i++) {
            const uint32_t address = from + i;
            name += static_cast<char>(word_at(address) >> (8U * (address % 4U)));
        }
        const bool reads = word_at(argument + 4U) == MODE_READ;
        std::FILE *file = std::fopen(name.c_str(), reads ? "rb" : "wb");
        if (file == nullptr) {
            return UINT32_MAX;
        }
        files.all.push_back(file);
        return static_cast<uint32_t>(files.all.size() - 1U);
    }
    case SYS_READ:
    case SYS_WRITE:
        return transfer(argument, operation == SYS_READ);
    case SYS_EXIT_EXTENDED:
        leave(static_cast<int>(word_at(argument + 4U)));
        return 0U;
    default:
        std::fprintf(stderr, "semihosting has no operation %#" PRIx32 " here\n", operation);
        leave(FAILED);
        return 0U;
    }
}

void Board::fetch(uint32_t address)
{
    Memory *memory = of(address);
    core.code_word = (memory != nullptr) ? memory->at(address) : 0U;
}

void Board::access(bool writes, uint32_t address, uint32_t bytes, uint32_t word)
{
    if (address >= DEVICE) {
        const uint32_t offset = address - DEVICE;
        if (writes) {
            (offset == 0U ? operation : argument) = word;
        } else {
            core.data_in = serve();
        }
        return;
    }
    Memory *memory = of(address);
    if ((memory == nullptr) || (writes && (memory != &ram))) {
        std::fprintf(stderr, "no data can be at %#" PRIx32 "\n", address);
        leave(FAULT);
        return;
    }
    uint32_t &held = memory->at(address);
    if (writes) {
        uint32_t mask = 0U;
        for (uint32_t i = 0U; i < 4U; i++) {
            mask |= ((bytes >> i) & 1U) != 0U ? (0xFFU << (8U * i)) : 0U;
        }
        held = (held & ~mask) | (word & mask);
    } else {
        core.data_in = held;
    }
}

// An instruction has retired.
void Board::retire(uint64_t now)
{
    const uint32_t at = core.retired_at;
    if (core.trapped != 0U) {
        std::fprintf(stderr, "an exception at %#" PRIx32 "\n", at);
        leave(FAULT);
        return;
    }
    if (inside && (at == back)) {
        inside = false;
        if ((before - start) != (before_at - started_at)) {
            std::fprintf(stderr, "the core counts other cycles than the testbench\n");
            leave(FAILED);
        }
        std::fprintf(out, "%zu %" PRIu64 " %" PRIu64 "\n", entered, count, before - start);
    } else if (!inside) {
        for (size_t i = 0U; i < entries.size(); i++) {
            if (at == entries[i]) {
                inside = true;
                entered = i;
                back = behind;
                count = 0U;
                start = before;
                started_at = before_at;
            }
        }
    }
    count += 1U;
    before = core.mcycle;
    before_at = now;
    behind = at + (((core.instruction & 3U) == 3U) ? 4U : 2U);
}

int Board::run()
{
    core.boot = boot.origin;
    core.clock = 0U;
    for (const uint8_t running : {1U, 0U, 1U}) { // the reset is the edge down
        core.running = running;
        core.eval();
    }
    for (uint64_t now = 0U; !ended; now++) {
        const bool asks_code = core.code_asked != 0U;
        const bool asks_data = core.data_asked != 0U;
        const bool writes = core.data_written != 0U;
        const uint32_t code_address = core.code_address;
        const uint32_t data_address = core.data_address;
        const uint32_t bytes = core.data_bytes;
        const uint32_t word = core.data_out;
        core.clock = 1U;
        core.eval();
        if (asks_code) {
            fetch(code_address);
        }
        if (asks_data) {
            access(writes, data_address, bytes, word);
        }
        core.clock = 0U;
        core.eval();
        if (core.retired != 0U) {
            retire(now);
        }
    }
    core.final();
    return code;
}

bool has_key(const char *argument, const char *key, const char **value)
{
    const size_t length = std::strlen(key);
    const bool has = std::strncmp(argument, key, length) == 0;
    if (has) {
        *value = argument + length;
    }
    return has;
}

Memory region(const char *text)
{
    char *rest = nullptr;
    Memory memory;
    memory.origin = static_cast<uint32_t>(std::strtoul(text, &rest, 0));
    memory.words.resize((*rest == ':') ? (std::strtoul(rest + 1, nullptr, 0) / 4U) : 0U);
    return memory;
}

// Write nothing where the image sets the protection of memory; instructions lie at even addresses.
void leave_unprotected(Memory &flash, size_t n_bytes)
{
    uint8_t *bytes = reinterpret_cast<uint8_t *>(flash.words.data());
    for (size_t i = 0U; (i + 4U) <= n_bytes; i += 2U) {
        uint32_t word = 0U;
        std::memcpy(&word, &bytes[i], 4U);
        const uint32_t written = word & ~SOURCE;
        if ((written == WRITE_PMPADDR0) || (written == WRITE_PMPCFG0)) {
            std::memcpy(&bytes[i], &NOTHING, 4U);
        }
    }
}

// Put the image into the flash, and the device's calls where it has those of semihosting.
bool load(Memory &flash, const std::string &path, bool is_protected)
{
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.empty() || (bytes.size() > (flash.words.size() * 4U))) {
        return false;
    }
    std::memcpy(flash.words.data(), bytes.data(), bytes.size());
    if (!is_protected) {
        leave_unprotected(flash, bytes.size());
    }
    int n_calls = 0;
    for (size_t i = 0U; (i + std::size(CALL)) <= flash.words.size(); i++) {
        if (std::memcmp(&flash.words[i], CALL, sizeof(CALL)) == 0) {
            std::memcpy(&flash.words[i], DEVICE_CALL, sizeof(DEVICE_CALL));
            n_calls++;
        }
    }
    return n_calls == 1;
}

} // namespace

int main(int argc, char **argv)
{
    auto board = std::make_unique<Board>();
    std::string image;
    bool is_protected = true;
    const char *value = nullptr;
    for (int i = 1; i < argc; i++) {
        if (has_key(argv[i], "flash=", &value)) {
            board->flash = region(value);
        } else if (has_key(argv[i], "ram=", &value)) {
            board->ram = region(value);
        } else if (has_key(argv[i], "image=", &value)) {
            image = value;
        } else if (has_key(argv[i], "unprotected=", &value)) {
            is_protected = false;
        } else if (has_key(argv[i], "out=", &value)) {
            board->out = std::fopen(value, "w");
        } else if (has_key(argv[i], "entry=", &value)) {
            board->entries.push_back(static_cast<uint32_t>(std::strtoul(value, nullptr, 0)));
        }
    }
    if ((board->out == nullptr) || !load(board->flash, image, is_protected)) {
        std::fprintf(stderr, "no file of counts, or no image with one place of semihosting\n");
        return FAILED;
    }
    board->boot.origin = board->flash.origin - BOOT_SPAN;
    board->boot.words.assign(BOOT_SPAN / 4U, 0U);
    board->boot.words[BOOT_OFFSET / 4U] = JUMP;
    const int code = board->run();
    return (std::fclose(board->out) == 0) ? code : FAILED;
}
