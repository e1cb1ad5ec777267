// Asks a node one query at once and another after a whole self-test; prints what it tells.
#include <cstdio>

#include "iris_model_node/model_node.hpp"

int main()
{
  rclcpp::init(0, nullptr);
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(std::make_shared<iris_model_node::ModelNode>(rclcpp::NodeOptions()));
  const auto asker = std::make_shared<rclcpp::Node>("asker");
  const auto query = asker->create_publisher<iris_model_msgs::msg::Query>(
    "/iris_model/query", rclcpp::QoS(10));
  const auto answer = asker->create_subscription<iris_model_msgs::msg::Answer>(
    "/iris_model/answer", rclcpp::QoS(10),
    [](const iris_model_msgs::msg::Answer &) {std::puts("answered");});
  const auto report = asker->create_subscription<diagnostic_msgs::msg::DiagnosticArray>(
    "/diagnostics", rclcpp::QoS(10), [](const diagnostic_msgs::msg::DiagnosticArray & array) {
      const auto & status = array.status[0];
      std::printf(
        "%d %s %s\n", status.level, status.values[1].second.c_str(),
        status.values[2].second.c_str());
    });
  query->publish(iris_model_msgs::msg::Query());
  for (int turn = 0; turn < 100; turn++) {
    executor.spin_once(std::chrono::milliseconds(1));
  }
  query->publish(iris_model_msgs::msg::Query());
  executor.spin_once(std::chrono::milliseconds(1));
  executor.spin_once(std::chrono::milliseconds(1));
}
