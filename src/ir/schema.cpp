#include "ir/schema.h"

namespace fg::ir {

namespace {

struct SchemaSink {
  Schema& schema;

  std::string_view part(TextRange p) const { return schema.text.substr(p.begin, p.size); }
  void name(TextRange name, TextRange overload) {
    schema.name = part(name);
    schema.overload = part(overload);
  }
  Argument filled(const ArgumentParts& parts) const {
    return {parts.type,
            part(parts.name),
            part(parts.default_text),
            part(parts.alias),
            parts.default_text.size > 0,
            parts.keyword_only};
  }
  void argument(const ArgumentParts& parts) {
    if (parts.default_text.size == 0) schema.required_count = schema.argument_count + 1;
    schema.arguments[schema.argument_count++] = filled(parts);
  }
  void result(const ArgumentParts& parts) { schema.returns[schema.return_count++] = filled(parts); }
};

}  // namespace

Schema parse_schema(std::string_view text) {
  Schema schema;
  schema.text = text;
  SchemaSink sink{schema};
  SchemaParser(text, sink).parse();
  return schema;
}

}  // namespace fg::ir
