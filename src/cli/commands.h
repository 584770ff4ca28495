// What the subcommands of `foregrad` print: text for people, or one JSON document.
#pragma once

namespace fg::cli {

void print_ops(bool json);
void print_settings(bool json);

}  // namespace fg::cli
