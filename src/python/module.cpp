// The native module of the package: foregrad._C.
#include "python/bindings.h"
#include "python/custom_node.h"
#include "python/data.h"
#include "python/functions.h"
#include "python/tensor_type.h"
#include "python/types.h"

NB_MODULE(_C, module) {
  using namespace fg::python;
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const nb::python_error&) {
      throw;
    } catch (...) {
      set_error();
    }
  });
  nb::set_leak_warnings(false);  // types and their methods live as long as the process
  install_hooks();
  install_face_release();
  add_types(module);
  add_tensor_type(module);
  add_nodes(module);
  add_context(module);
  nb::module_ functions = module.def_submodule("_functions");
  add_functions(functions);
  connect_operators();
  add_data(module);
  add_autograd(module);
  add_capture(module);
  add_optimizers(module);
  add_step(module);
  add_nn(module);
  add_shared(module);
  add_compiled(module);
  add_cache(module);
  add_profile(module);
  add_watch(module);
}
