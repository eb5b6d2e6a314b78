#include "config/load.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "config/document.h"
#include "config/reader.h"
#include "config/rules.h"
#include "hal/unique_fd.h"

namespace config {
namespace {

Loaded refusal(std::string_view file, std::string wrong, std::string remedy) {
  return std::vector{Fault{std::string(file), {1, 1}, "file", std::move(wrong), std::move(remedy)}};
}

std::string remedy_for(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "give the path of an existing file";
    case EACCES:
      return "make it readable for the user that runs lidard";
    default:
      return "give the path of a readable file";
  }
}

}  // namespace

Loaded load(const std::string& path) {
  std::string text;
  return load(path, text);
}

Loaded load(const std::string& path, std::string& text) {
  // A FIFO without a writer would block the opening.
  const hal::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return refusal(path, std::strerror(errno), remedy_for(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return refusal(path, "not a regular file", "give the path of a file");
  }
  text.assign(kMaxFileSize + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + size, text.size() - size);
    if (got < 0) return refusal(path, std::strerror(errno), remedy_for(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return load_text(text, path);
}

Loaded load_text(const std::string& text, std::string_view file) {
  if (text.size() > kMaxFileSize) {
    return refusal(file, "the file is larger than 1 MiB", "keep to the keys of lidard.yaml(5)");
  }
  const auto parsed = parse(text, file);
  if (const Fault* fault = std::get_if<Fault>(&parsed)) return std::vector{*fault};
  Draft draft(file);
  read(std::get<Node>(parsed), draft);
  check(draft);
  if (draft.faults.empty()) return std::move(draft.stack);
  std::ranges::stable_sort(draft.faults, {},
                           [](const Fault& f) { return std::tuple(f.at.line, f.at.column); });
  return std::move(draft.faults);
}

}  // namespace config
