"""Names that no model may have: keywords, headers that `<name>.h` would hide, and devices.

For `#include <time.h>` a compiler searches the folders of `-I` first, where it would find an
emitted `time.h`. On file systems that ignore case it would find an emitted `Time.h` as well.
"""

from __future__ import annotations

from typing import Final

_C_WORDS = """auto break case char const continue default do double else enum extern float for goto
if inline int long register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while bool true false main asm typeof alignas alignof constexpr nullptr
static_assert thread_local typeof_unqual"""
_CPP_WORDS = """class new delete this template operator private public protected virtual try catch
throw namespace using friend export explicit mutable typename and or not xor and_eq or_eq not_eq
xor_eq bitand bitor compl char8_t char16_t char32_t wchar_t concept requires co_await co_return
co_yield consteval constinit const_cast static_cast dynamic_cast reinterpret_cast decltype noexcept
typeid"""

# Headers of C99 to C23, and headers that compilers add.
_C_HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp
signal stdalign stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn
string tgmath threads time uchar wchar wctype stdfix syslimits unwind varargs cpuid emmintrin
immintrin mmintrin xmmintrin x86intrin arm_acle arm_bf16 arm_cde arm_cmse arm_fp16 arm_mve arm_neon
arm_sve altivec"""
# Headers of C++98 to C++26; early libraries, and some of today's, have <vector.h>.
_CPP_HEADERS = """algorithm any array atomic barrier bit bitset charconv chrono codecvt compare
concepts condition_variable contracts coroutine debugging deque exception execution expected
filesystem flat_map flat_set format forward_list fstream functional future generator hash_map
hash_set hazard_pointer hive initializer_list inplace_vector iomanip ios iosfwd iostream istream
iterator latch linalg list map mdspan memory memory_resource meta mutex numbers numeric optional
ostream print queue random ranges ratio rcu regex scoped_allocator semaphore set shared_mutex simd
source_location span spanstream sstream stack stacktrace stdexcept stdfloat stop_token stream
streambuf string_view strstream syncstream system_error text_encoding thread tuple type_traits
typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
cassert ccomplex cctype cerrno cfenv cfloat cinttypes ciso646 climits clocale cmath csetjmp csignal
cstdalign cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar
cwctype"""
# Headers and folders of headers of POSIX.1-2001 to 2024, and further headers of C libraries.
_POSIX_HEADERS = """aio cpio devctl dirent dlfcn endian fcntl fmtmsg fnmatch ftw glob grp iconv
langinfo libgen libintl monetary mqueue ndbm netdb nl_types poll pthread pwd sched search spawn
strings stropts syslog tar termios trace ulimit unistd utime utmpx wordexp inet if in tcp ipc mman
msg resource select sem shm socket stat statvfs timeb times types uio un utsname wait"""
_LIBRARY_HEADERS = """alloca alltypes argp argz ansidecl byteswap config crypt elf envlock envz err
error execinfo fastmath features fts getopt ieeefp ifaddrs langinfo libio link malloc mcheck mntent
netinet newlib obstack paths picolibc process pty reent regexp regdef resolv sgtty shadow stab
sysexits termio ucontext unctrl utmp values xlocale
conio crtdbg direct dos intrin io mbstring sal share tchar windows winsock winsock2"""
# Headers of Zephyr, Arduino, ESP-IDF, F Prime and cFS, and those of kmcompile's own images.
_FRAMEWORK_HEADERS = """kernel device devicetree init irq linker toolchain autoconf zephyr
arduino binary client eeprom ethernet hardwareserial ipaddress pins_arduino printable sd server
servo spi stepper udp usbapi wcharacter wifi wire wmath wstring
sdkconfig unity esp_log esp_err
cfe osapi osconfig common_types fprime board"""
# <unistd.h>, <fmtmsg.h>, <stdarg.h> and <signal.h> have the macros F_OK, R_OK, W_OK, X_OK, MM_OK,
# va_start and si_value.
_MACROS = "f r w x mm va si"
_DEVICES = f"""con prn aux nul conin conout clock
{" ".join(f"com{n} lpt{n}" for n in range(10))}"""

_REASONS: Final = (
    (f"{_C_WORDS} {_CPP_WORDS}", "is a keyword of C or C++"),
    (
        f"{_C_HEADERS} {_CPP_HEADERS} {_POSIX_HEADERS} {_LIBRARY_HEADERS}",
        "is a header of C, C++, POSIX or a C library, which {name}.h would hide",
    ),
    (_FRAMEWORK_HEADERS, "is a header of a framework, which {name}.h would hide"),
    (_MACROS, "begins a macro of the C library"),
    (_DEVICES, "is a device of Windows: no file can have that name"),
)

RESERVED: Final[dict[str, str]] = {
    name: reason.format(name=name) for names, reason in reversed(_REASONS) for name in names.split()
}
"""Reserved name -> the reason why a model cannot have it."""
