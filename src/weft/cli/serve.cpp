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
#include <iostream>

#include "weft/base/error.h"
#include "weft/cli/commands.h"
#include "weft/look/figures.h"
#include "weft/viz/report.h"

namespace weft::cli {
namespace {

constexpr std::int64_t usual_port = 8642;
constexpr std::size_t longest_request = 8192;

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
        if (member.key.ends_with(".loss") || member.key.ends_with(".error"))
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

/// Until the empty line; who is slow or says too much gets no answer.
std::string request_from(int connection) {
    struct timeval patience {
        2, 0
    };
    ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    std::string request;
    char buffer[1024];
    auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < std::chrono::seconds(4) &&
           request.find("\r\n\r\n") == request.npos && request.size() < longest_request) {
        ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
        if (count <= 0) return "";
        request.append(buffer, static_cast<std::size_t>(count));
    }
    return request.find("\r\n\r\n") == request.npos ? "" : request;
}

void send_all(int connection, std::string_view bytes) {
    while (!bytes.empty()) {
        ssize_t count = ::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

/// Listens; gives the port, which the system chooses where 0 is asked for.
int listen_on(int socket, int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET, address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* where = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    int again = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
    if (::bind(socket, where, size) != 0 || ::listen(socket, 16) != 0 || ::getsockname(socket, where, &size) != 0)
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
    Socket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    int port = listen_on(listener.number(), static_cast<int>(wanted));
    struct sigaction action {};
    action.sa_handler = end_serving;  // without SA_RESTART: poll returns
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
    std::cout << "http://127.0.0.1:" << port << "/  (Ctrl-C ends it)" << std::endl;
    while (!serving_ends) {
        pollfd ready{listener.number(), POLLIN, 0};
        if (::poll(&ready, 1, 500) <= 0) continue;
        Socket connection(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection.number() < 0) continue;
        std::string request = request_from(connection.number());
        if (!request.empty()) send_all(connection.number(), answer_to(request, arguments.words(), glob));
    }
    return done;
}

}  // namespace weft::cli
