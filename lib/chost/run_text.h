// The text of a function that runs a program: NAME_run, or a body of control flow.
#pragma once
#include <set>

#include "function.h"
#include "reading/buffer_names.h"
#include "reading/told_values.h"
#include "text.h"

namespace mrvlc::chost {

class RunText {
 public:
  // `interface`: of NAME_run; nullptr for a body, whose inputs and outputs are arrays of views.
  RunText(const Program& program, const Interface* interface, const ArenaResult& arena)
      : program_(program),
        interface_(interface),
        arena_(arena),
        prefix_(program.options.name),
        buffer_names_(program, arena),
        told_values_(program, arena) {}

  // The whole function. `symbol`: that of a body.
  std::string function(const std::string& symbol = {});
  bool takes_threads() const { return interface_ != nullptr && program_.options.threads > 1; }
  bool takes_weights() const { return program_.options.weights == WeightsAs::Blob; }
  std::string run_alone() const;
  // flight_text.cpp: NAME_submit and NAME_wait, as "_submit" and its text; none where flight_obstacle() says
  // why.
  std::vector<std::pair<std::string, std::string>> halves();
  std::optional<uint32_t> submitted_region() const;
  size_t view_count() const { return viewed_values().size(); }
  // Definitions of the names of the nodes that its calls mention, but those that the module has already.
  std::string names() const;
  // Tells the module what the binaries of the program's regions must be.
  void note_regions() const;
  // That of all regions of the model, and the functions that load and check them; nothing without regions.
  void add_regions(CSource& out) const;

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    out_.append(depth_ * 2, ' ');
    out_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
  std::vector<std::string> span_rows(const backend::RegionCode& region) const;
  uint32_t region_id(const Step& step) const {
    return program_.partition.regions[static_cast<size_t>(step.group.region)].id;
  }
  size_t expr(const Step& step) const { return program_.expr(step.group.nodes.front()).index(); }
  static std::string view_name(ir::ValueId value) { return fmt::format("v{}", value.index()); }

  void open(std::string_view head);
  void close();
  std::string address(BufferId id) const;
  std::string mutable_address(ir::ValueId value) const;
  std::string view_argument(ir::ValueId value) const;
  void head(const std::string& symbol);
  void check_arguments();
  void take_weights();
  std::set<ir::ValueId> viewed_values() const;
  bool declare_views();
  void take_input_dims();
  void check_inputs();
  void step(const Step& step);
  void whole_step(const Step& step);
  void before_device(const Step& step);
  void after_device(const Step& step);
  void put_check(const Step& step, const ElementCheck& check);
  std::string arguments(const Call& call) const;
  void call(const Step& step, const Call& call);
  void device_ports(const Step& step);
  void device_call(const Step& step);
  std::string submit_function();
  std::string wait_function();
  size_t cut_step() const;
  void begin_half();
  void take_flight();
  void keep_flight();
  void cpu_call(const Step& step);
  void declare_cpu_views(const std::vector<ir::ValueId>& values, std::string_view kind,
                         std::string_view qualifier);
  void tell(const std::vector<ir::ValueId>& values);
  void copy_outputs();
  void tell_dims();
  std::string bytes_of(ir::ValueId value) const;

  const Program& program_;
  const Interface* interface_;
  const ArenaResult& arena_;
  const std::string& prefix_;
  const BufferNames buffer_names_;
  const ToldValues told_values_;
  std::string out_;
  size_t depth_ = 1;  // of blocks
};

}  // namespace mrvlc::chost
