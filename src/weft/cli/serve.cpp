// weft serve: charts of runs on a page of this machine, from their logs, while they go on and afterwards. It listens on 127.0.0.1 alone,
// answers GET of two addresses, reads nothing but logs, and its page asks nobody else (Content-Security-Policy).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/look/figures.h"
#include "weft/viz/report.h"

namespace weft::cli {
namespace {

constexpr std::int64_t usual_port = 8642;
constexpr std::size_t longest_request = 8192, most_visitors = 64;
using Clock = std::chrono::steady_clock;
constexpr Clock::duration patience = std::chrono::seconds(4);

volatile std::sig_atomic_t serving_ends = 0;
extern "C" void end_serving(int) { serving_ends = 1; }

/// Closes what it holds.
class Socket {
  public:
    explicit Socket(int number) : number_(number) {}
    ~Socket() {
        if (number_ >= 0) ::close(number_);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    int number() const { return number_; }

  private:
    int number_;
};

std::string status_of(const look::RunLog& run) {
    if (run.epochs.empty()) return text("<p>", viz::escaped(run.name), ": no epoch has ended yet</p>");
    const Json& line = run.ended ? run.finals.back() : run.epochs.back();
    std::string out = text("<p><b>", viz::escaped(run.name), "</b> ",
                           run.ended ? "ended; the model of epoch " : "epoch ", line.at("epoch").as_integer());
    for (const Json::Member& member : line.members()) {
        if (member.key.ends_with(".loss") || look::is_share(member.key))
            out += text(" &middot; ", viz::escaped(member.key), " ", look::cell(line, member.key));
    }
    return out + "</p>";
}

std::string content_of(const std::vector<std::string>& folders, const std::optional<std::string>& glob) {
    std::vector<look::RunLog> runs = look::read_runs(folders);
    std::string out;
    for (const look::RunLog& run : runs) out += status_of(run);
    std::string charts = viz::charts_html(look::charts_of(runs, look::channels_of(runs, glob)));
    return charts.empty() ? out : text(out, "<section>", charts, "</section>");
}

std::string answer(const char* status, const std::string& body) {
    return text("HTTP/1.1 ", status, "\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: ", body.size(),
                "\r\nConnection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                "connect-src 'self'; img-src data:\r\n\r\n",
                body);
}

/// A page elsewhere that got its own name to mean this machine must not read runs: the host is asked for by its number or as localhost.
bool asks_for_this_machine(const std::string& request) {
    std::size_t at = request.find("\r\nHost: ");
    if (at == request.npos) return false;
    std::string host = request.substr(at + 8, request.find("\r\n", at + 8) - at - 8);
    host = host.substr(0, host.rfind(':'));
    return host == "127.0.0.1" || host == "localhost";
}

std::string answer_to(const std::string& request, const std::vector<std::string>& folders,
                      const std::optional<std::string>& glob) {
    if (!request.starts_with("GET ")) return answer("405 Method Not Allowed", "only GET is answered");
    if (!asks_for_this_machine(request)) return answer("403 Forbidden", "ask for 127.0.0.1");
    std::string path = request.substr(4, request.find(' ', 4) - 4);
    try {
        if (path == "/") return answer("200 OK", viz::charts_page("weft", content_of(folders, glob), true));
        if (path == "/content") return answer("200 OK", content_of(folders, glob));
    } catch (const Error& error) {  // a folder that is being written or was removed: the next question may fare better
        return answer("500 Internal Server Error", viz::escaped(error.what()));
    }
    return answer("404 Not Found", "there is / alone");
}

/// Somebody who asks: first the request comes, then the answer goes, either within `patience`.
struct Visitor {
    explicit Visitor(int connection) : socket(connection) {}
    Socket socket;
    std::string request, answer;
    std::size_t sent = 0;
    bool done = false;
    Clock::time_point begun = Clock::now();
    short waits_for() const { return static_cast<short>(answer.empty() ? POLLIN : POLLOUT); }
};

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// Until the empty line; who says too much gets no answer.
void read_some(Visitor& visitor, const std::function<std::string(const std::string&)>& answered) {
    char buffer[1024];
    ssize_t count = ::recv(visitor.socket.number(), buffer, sizeof buffer, 0);
    if (count < 0 && would_wait()) return;
    if (count <= 0) return void(visitor.done = true);
    visitor.request.append(buffer, static_cast<std::size_t>(count));
    if (visitor.request.find("\r\n\r\n") != visitor.request.npos)
        visitor.answer = answered(visitor.request), visitor.begun = Clock::now();
    else
        visitor.done = visitor.request.size() >= longest_request;
}

void send_some(Visitor& visitor) {
    std::string_view rest = std::string_view(visitor.answer).substr(visitor.sent);
    ssize_t count = ::send(visitor.socket.number(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && would_wait()) return;
    if (count > 0) visitor.sent += static_cast<std::size_t>(count);
    visitor.done = count <= 0 || visitor.sent == visitor.answer.size();
}

/// All who ask, at once and in one thread, so that nobody waits for one who says nothing. At most `most_visitors`: the one who came first makes
/// room for another.
class Visitors {
  public:
    explicit Visitors(std::function<std::string(const std::string&)> answered) : answered_(std::move(answered)) {}

    /// Waits for whatever comes first, half a second at most.
    void serve(int listener) {
        std::vector<pollfd> ready{{listener, POLLIN, 0}};
        for (const auto& visitor : all_) ready.push_back({visitor->socket.number(), visitor->waits_for(), 0});
        int count = ::poll(ready.data(), ready.size(), 500);
        auto now = Clock::now();  // before answers are made: who waited for these was not slow
        for (std::size_t i = 0; count > 0 && i < all_.size(); ++i) {
            if (ready[i + 1].revents == 0) continue;
            if (all_[i]->answer.empty())
                read_some(*all_[i], answered_);
            else
                send_some(*all_[i]);
        }
        std::erase_if(all_, [&](const auto& visitor) { return visitor->done || now - visitor->begun > patience; });
        if (count > 0 && ready[0].revents != 0) welcome(listener);
    }

  private:
    void welcome(int listener) {
        int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (connection < 0) return;
        if (all_.size() == most_visitors) all_.erase(all_.begin());
        all_.push_back(std::make_unique<Visitor>(connection));
    }

    std::vector<std::unique_ptr<Visitor>> all_;  // in the order in which they came
    std::function<std::string(const std::string&)> answered_;
};

/// Listens; gives the port, which the system chooses where 0 is asked for.
int listen_on(int socket, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* where = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    int again = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    if (::bind(socket, where, size) != 0 || ::listen(socket, SOMAXCONN) != 0 ||
        ::getsockname(socket, where, &size) != 0)
        throw ConfigError(text("port ", port, " of 127.0.0.1 cannot be served: ", std::strerror(errno),
                               "; --port names another one, 0 any that is free"));
    return ntohs(address.sin_port);
}

}  // namespace

int serve(const Arguments& arguments) {
    std::optional<std::string> glob = arguments.value("channel");
    (void)content_of(arguments.words(), glob);  // what is wrong with the words is said here
    std::int64_t wanted = arguments.integer("port", 0).value_or(usual_port);
    if (wanted > 65535) throw ConfigError(text("--port ", wanted, ": expected 65535 or less"));
    Socket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int port = listen_on(listener.number(), static_cast<int>(wanted));
    struct sigaction action {};
    action.sa_handler = end_serving;  // without SA_RESTART: poll returns
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
    std::cout << "http://127.0.0.1:" << port << "/  (Ctrl-C ends it)" << std::endl;
    Visitors visitors([&](const std::string& request) { return answer_to(request, arguments.words(), glob); });
    while (!serving_ends) visitors.serve(listener.number());
    return done;
}

}  // namespace weft::cli
