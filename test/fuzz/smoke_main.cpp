// Runs a fuzz target without a fuzzer: all seeds as they are, then mutated ones for a second.
// Usage: TARGET DIRECTORY_OF_SEEDS [FIRST_SEED_OF_THE_RANDOM_NUMBERS]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
constexpr auto kFor = std::chrono::seconds(1);
constexpr std::size_t kLongest = 8192;

std::vector<Input> read_seeds(const char* directory) {
  std::vector<Input> seeds{{}};
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>{});
  }
  return seeds;
}

// A few changes: bytes set, flipped, removed, repeated, or a part of another seed put in.
Input mutate(Input input, const std::vector<Input>& seeds, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  const auto at = [](std::size_t i) { return static_cast<std::ptrdiff_t>(i); };
  for (std::size_t changes = 1 + below(8); changes > 0; --changes) {
    const std::size_t i = below(input.size());
    const std::size_t n = std::min(input.size() - i, 1 + below(32));
    const Input& other = seeds[below(seeds.size())];
    const std::size_t from = below(other.size());
    switch (input.empty() ? 3 : below(5)) {
      case 0:
        input[i] = static_cast<std::uint8_t>(random());
        break;
      case 1:
        input[i] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 2:
        input.erase(input.begin() + at(i), input.begin() + at(i + n));
        break;
      case 3:
        input.insert(input.begin() + at(i), other.begin() + at(from),
                     other.begin() + at(std::min(other.size(), from + 1 + below(64))));
        break;
      default:
        for (std::size_t k = 0; k < n; ++k) input[i + k] = static_cast<std::uint8_t>(random());
    }
  }
  input.resize(std::min(input.size(), kLongest));
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const std::vector<Input> seeds = read_seeds(argv[1]);
  auto seed = argc > 2 ? static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10))
                       : std::random_device{}();
  std::printf("%zu seeds; random numbers from %lu on\n", seeds.size() - 1,
              static_cast<unsigned long>(seed));
  std::fflush(stdout);
  for (const Input& input : seeds) LLVMFuzzerTestOneInput(input.data(), input.size());
  const auto end = std::chrono::steady_clock::now() + kFor;
  unsigned runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++seed, ++runs) {
    std::mt19937 random(seed);
    const Input input = mutate(seeds[random() % seeds.size()], seeds, random);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%u mutated inputs\n", runs);
  return 0;
}
