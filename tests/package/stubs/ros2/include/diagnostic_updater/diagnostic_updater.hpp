// Stands for diagnostic_updater 3.0.0 (Humble): one report a turn of the executor.
#ifndef DIAGNOSTIC_UPDATER__DIAGNOSTIC_UPDATER_HPP_
#define DIAGNOSTIC_UPDATER__DIAGNOSTIC_UPDATER_HPP_

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "diagnostic_msgs/msg/diagnostic_array.hpp"
#include "diagnostic_msgs/msg/diagnostic_status.hpp"
#include "rclcpp/rclcpp.hpp"

namespace diagnostic_updater
{

class DiagnosticStatusWrapper : public diagnostic_msgs::msg::DiagnosticStatus
{
public:
  void summary(unsigned char lvl, const std::string s)
  {
    level = lvl;
    message = s;
  }
  template<class T>
  void add(const std::string & key, const T & val) {values.emplace_back(key, std::to_string(val));}
};

class Updater
{
public:
  template<class NodeT>
  explicit Updater(NodeT node, double period = 1.0)
  : publisher_(node->template create_publisher<diagnostic_msgs::msg::DiagnosticArray>(
        "/diagnostics", rclcpp::QoS(1)))
  {
    node->create_wall_timer(
      std::chrono::duration<double>(period), [this]() {force_update();});
  }
  void setHardwareID(const std::string & hwid) {hwid_ = hwid;}
  template<class T>
  void add(const std::string name, T * c, void (T::* f)(DiagnosticStatusWrapper &))
  {
    tasks_.emplace_back(name, [c, f](DiagnosticStatusWrapper & status) {(c->*f)(status);});
  }
  void force_update()
  {
    diagnostic_msgs::msg::DiagnosticArray array;
    for (const auto & [name, task] : tasks_) {
      DiagnosticStatusWrapper status;
      status.name = name;
      status.hardware_id = hwid_;
      task(status);
      array.status.push_back(status);
    }
    publisher_->publish(array);
  }

private:
  using Task = std::function<void(DiagnosticStatusWrapper &)>;
  rclcpp::Publisher<diagnostic_msgs::msg::DiagnosticArray>::SharedPtr publisher_;
  std::string hwid_;
  std::vector<std::pair<std::string, Task>> tasks_;
};

}  // namespace diagnostic_updater

#endif  // DIAGNOSTIC_UPDATER__DIAGNOSTIC_UPDATER_HPP_
