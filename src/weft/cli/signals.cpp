#include "weft/cli/signals.h"

#include <csignal>
#include <initializer_list>

namespace weft::cli {
namespace {

volatile std::sig_atomic_t asked = 0;

extern "C" void ask_to_stop(int) { asked = 1; }

}  // namespace

void catch_signals() {
    struct sigaction action {};
    action.sa_handler = ask_to_stop;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool asked_to_stop() { return asked != 0; }

}  // namespace weft::cli
