// A reader for the golden files: the whole of JSON except \u escapes. Numbers go through strtod, so a double
// that was printed in full comes back bit for bit. JSON has no infinity: the files write "-inf" and "inf".
#pragma once

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

class Json {
 public:
  static Json parse(const std::string& text) {
    const char* at = text.c_str();
    Json value = read(at);
    skip_space(at);
    if (*at != '\0') throw std::runtime_error("JSON: text after the value");
    return value;
  }

  bool is_null() const { return kind_ == Kind::kNull; }
  bool is_array() const { return kind_ == Kind::kArray; }
  bool is_string() const { return kind_ == Kind::kString; }

  bool truth() const { return need(Kind::kBool).number_ != 0; }
  const std::string& text() const { return need(Kind::kString).text_; }
  int integer() const { return static_cast<int>(number()); }
  double number() const {
    if (kind_ == Kind::kString && text_ == "inf") return std::numeric_limits<double>::infinity();
    if (kind_ == Kind::kString && text_ == "-inf") return -std::numeric_limits<double>::infinity();
    return need(Kind::kNumber).number_;
  }

  // Elements of an array, or values of an object in the order of the file.
  const std::vector<Json>& items() const { return items_; }
  size_t size() const { return items_.size(); }
  const Json& operator[](size_t index) const { return need(Kind::kArray).items_.at(index); }

  const Json* find(std::string_view key) const {
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == key) return &items_[i];
    }
    return nullptr;
  }
  const Json& operator[](std::string_view key) const {
    const Json* value = find(key);
    if (!value) throw std::runtime_error("JSON: no member " + std::string(key));
    return *value;
  }
  // The number of a member that may be absent or null.
  double number_or(const char* key, double otherwise) const {
    const Json* value = find(key);
    return value && !value->is_null() ? value->number() : otherwise;
  }

  // All numbers of a nested array, row-major.
  std::vector<double> numbers() const {
    if (!is_array()) return {number()};
    std::vector<double> all;
    for (const Json& item : items_) {
      for (const double x : item.numbers()) all.push_back(x);
    }
    return all;
  }

 private:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  const Json& need(Kind kind) const {
    if (kind_ != kind) throw std::runtime_error("JSON: a value is not of the kind that the test reads");
    return *this;
  }

  static void skip_space(const char*& at) {
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') ++at;
  }
  static bool take(const char*& at, std::string_view word) {
    skip_space(at);
    if (std::strncmp(at, word.data(), word.size()) != 0) return false;
    at += word.size();
    return true;
  }
  static void expect(const char*& at, std::string_view word) {
    if (!take(at, word)) throw std::runtime_error("JSON: no '" + std::string(word) + "' where one must be");
  }

  static std::string read_string(const char*& at) {
    std::string text;
    for (; *at != '"'; ++at) {
      if (*at == '\0') throw std::runtime_error("JSON: a string without end");
      if (*at == '\\') ++at;  // of the escapes the files use \" and \\ only
      text += *at;
    }
    ++at;
    return text;
  }

  static Json read(const char*& at) {
    Json value;
    skip_space(at);
    if (*at == '{' || *at == '[') {
      const bool object = *at++ == '{';
      const std::string_view close = object ? "}" : "]";
      value.kind_ = object ? Kind::kObject : Kind::kArray;
      if (take(at, close)) return value;
      do {
        if (object) {
          expect(at, "\"");
          value.keys_.push_back(read_string(at));
          expect(at, ":");
        }
        value.items_.push_back(read(at));
      } while (take(at, ","));
      expect(at, close);
    } else if (take(at, "\"")) {
      value.kind_ = Kind::kString;
      value.text_ = read_string(at);
    } else if (*at == 't' || *at == 'f') {
      value.kind_ = Kind::kBool;
      value.number_ = *at == 't';
      expect(at, *at == 't' ? "true" : "false");
    } else if (!take(at, "null")) {
      char* end;
      value.kind_ = Kind::kNumber;
      value.number_ = std::strtod(at, &end);
      if (end == at) throw std::runtime_error("JSON: not a value: " + std::string(at).substr(0, 20));
      at = end;
    }
    return value;
  }

  Kind kind_ = Kind::kNull;
  double number_ = 0;
  std::string text_;
  std::vector<std::string> keys_;
  std::vector<Json> items_;
};

// tests/golden/<name>.json
inline Json golden(const std::string& name) {
  std::ifstream file(POSENC_GOLDEN + name + ".json", std::ios::binary);
  if (!file) throw std::runtime_error("cannot open " POSENC_GOLDEN + name + ".json");
  return Json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace test
