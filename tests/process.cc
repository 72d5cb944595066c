#include "process.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace wide::tests {

namespace {

// The environment of this process with some of its words changed: "NAME=value" each.
std::vector<std::string> environment_with(const Process::Environment& changes) {
  std::vector<std::string> words;
  for (char** word = environ; *word != nullptr; ++word) {
    const std::string_view text(*word);
    const std::string name(text.substr(0, text.find('=')));
    if (!changes.contains(name)) words.emplace_back(text);
  }
  for (const auto& [name, value] : changes) words.push_back(name + "=" + value);
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (auto& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

// In the child of a process with many threads, any of which may have held a lock when it was
// forked: nothing here may ask for memory.
[[noreturn]] void become(char* const* words, char* const* environment, int out, int err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(open("/dev/null", O_RDONLY), 0);
  dup2(out, 1);
  dup2(err, 2);
  execve(words[0], words, environment);
  _exit(127);
}

}  // namespace

std::string program(const std::string& name) {
  return name.front() == '/' ? name : std::string(WIDE_BIN_FOLDER) + "/" + name;
}

Process::Process(std::vector<std::string> argv, const Environment& environment) {
  argv[0] = program(argv[0]);
  int out[2];
  int err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  auto variables = environment_with(environment);
  const auto words = pointers(argv);
  const auto values = pointers(variables);
  pid_ = fork();
  if (pid_ == 0) become(words.data(), values.data(), out[1], err[1]);
  close(out[1]);
  close(err[1]);
  reader_ =
      std::thread([this, from_out = out[0], from_err = err[0]] { read_all(from_out, from_err); });
}

Process::~Process() {
  if (!reaped_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  reader_.join();
}

void Process::read_all(int out, int err) {
  pollfd streams[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  char bytes[65536];
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    if (poll(streams, 2, 1000) < 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (streams[i].fd < 0 || (streams[i].revents & (POLLIN | POLLHUP)) == 0) continue;
      const ssize_t count = read(streams[i].fd, bytes, sizeof bytes);
      const std::lock_guard lock(mutex_);
      if (count > 0) {
        (i == 0 ? out_ : err_).append(bytes, static_cast<std::size_t>(count));
      } else {
        close(streams[i].fd);
        streams[i].fd = -1;
      }
    }
    changed_.notify_all();
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void Process::signal(int number) const {
  if (!reaped_) kill(pid_, number);
}

std::size_t Process::occurrences(const std::string& text) const {
  std::size_t count = 0;
  for (const std::string* stream : {&out_, &err_}) {
    for (auto at = stream->find(text); at != std::string::npos; at = stream->find(text, at + 1)) {
      ++count;
    }
  }
  return count;
}

bool Process::wait_for(const std::string& text, std::size_t count, Seconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return ended_ || occurrences(text) >= count; });
  return occurrences(text) >= count;
}

int Process::wait(Seconds patience) {
  if (!reaped_) {
    std::unique_lock lock(mutex_);
    // Its streams close when it and all its children have ended.
    if (!changed_.wait_for(lock, patience, [&] { return ended_; })) return -1;
    lock.unlock();
    waitpid(pid_, &status_, 0);
    reaped_ = true;
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

std::string Process::out() {
  const std::lock_guard lock(mutex_);
  return out_;
}
std::string Process::err() {
  const std::lock_guard lock(mutex_);
  return err_;
}
bool Process::running() {
  const std::lock_guard lock(mutex_);
  return !ended_;
}

std::vector<pid_t> descendants(pid_t pid) {
  std::vector<pid_t> found;
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  std::error_code none;
  for (const auto& task : std::filesystem::directory_iterator(folder, none)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) {
      found.push_back(child);
      for (const pid_t grandchild : descendants(child)) found.push_back(grandchild);
    }
  }
  return found;
}

Folder::Folder() {
  std::string name = std::filesystem::temp_directory_path() / "wide-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = name;
}

Folder::~Folder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name), std::ios::binary) << text;
  return file(name);
}

}  // namespace wide::tests
