#include "ir/schema.h"

namespace fg::ir {

static Argument argument_of(std::string_view text, const ArgumentOutline& outline) {
  auto part = [&](Part p) { return text.substr(p.begin, p.size); };
  return {outline.type,
          part(outline.name),
          part(outline.default_text),
          part(outline.alias),
          outline.default_text.size > 0,
          outline.keyword_only};
}

Schema parse_schema(std::string_view text) {
  Outline outline = SchemaParser(text).parse();
  Schema schema;
  schema.text = text;
  schema.name = text.substr(outline.name.begin, outline.name.size);
  schema.overload = text.substr(outline.overload.begin, outline.overload.size);
  schema.argument_count = outline.argument_count;
  schema.return_count = outline.return_count;
  schema.required_count = outline.required;
  for (size_t i = 0; i < schema.argument_count; i++) {
    schema.arguments[i] = argument_of(text, outline.arguments[i]);
  }
  for (size_t i = 0; i < schema.return_count; i++) {
    schema.returns[i] = argument_of(text, outline.returns[i]);
  }
  return schema;
}

}  // namespace fg::ir
