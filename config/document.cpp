#include "config/document.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>

namespace config {
namespace {

Mark mark_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Builds the tree from the parser's events: unlike YAML::Node this keeps doubled keys, and an
// alias can neither make a cycle nor multiply.
class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add(Node::Kind::empty, mark, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "an alias (*name) is not supported", "write the value out");
    add(Node::Kind::empty, mark, "");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    Node& node = add(Node::Kind::scalar, mark, tag);
    node.text = value;
    node.quoted = tag == "!";
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open_.push_back(&add(Node::Kind::list, mark, tag));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open_.push_back(&add(Node::Kind::map, mark, tag));
  }
  void OnMapEnd() override { open_.pop_back(); }

  Node root;
  std::optional<Fault> fault;

 private:
  // Only the innermost open node grows, so the pointers to the others stay valid.
  Node& add(Node::Kind kind, const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      refuse(mark, "the tag " + tag + " is not supported", "leave it out");
    }
    Node& node = open_.empty() ? root : open_.back()->items.emplace_back();
    node.kind = kind;
    node.at = mark_of(mark);
    return node;
  }
  void refuse(const YAML::Mark& mark, std::string wrong, std::string remedy) {
    if (!fault) fault = Fault{"", mark_of(mark), "yaml", std::move(wrong), std::move(remedy)};
  }

  std::vector<Node*> open_;
};

std::variant<Node, Fault> parse_or_throw(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  TreeBuilder tree;
  parser.HandleNextDocument(tree);
  if (tree.fault) return *tree.fault;
  TreeBuilder second;
  if (parser.HandleNextDocument(second)) {
    return Fault{"", second.root.at, "yaml", "a second document begins here",
                 "keep one document per file"};
  }
  return std::move(tree.root);
}

}  // namespace

std::variant<Node, Fault> parse(const std::string& text, std::string_view file) {
  constexpr const char* kRemedy = "correct the YAML here or just before";
  std::variant<Node, Fault> result;
  try {
    result = parse_or_throw(text);
  } catch (const YAML::DeepRecursion& error) {
    result = Fault{"", mark_of(error.mark), "yaml", "nested too deeply", kRemedy};
  } catch (const YAML::Exception& error) {
    result = Fault{"", mark_of(error.mark), "yaml", error.msg, kRemedy};
  } catch (const std::exception& error) {
    result = Fault{"", {1, 1}, "yaml", error.what(), kRemedy};
  }
  if (Fault* fault = std::get_if<Fault>(&result)) fault->file = file;
  return result;
}

}  // namespace config
