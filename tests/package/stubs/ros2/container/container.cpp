// Stands for a container with two composed nodes: sends each query of the standard input to the
// node that takes so many features, and prints the answers.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "iris_model_msgs/msg/answer.hpp"
#include "iris_model_msgs/msg/query.hpp"
#include "m_2_model_msgs/msg/answer.hpp"
#include "m_2_model_msgs/msg/query.hpp"
#include "rclcpp_components/register_node_macro.hpp"

namespace
{

std::uint32_t bits(float value)
{
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof(word));
  return word;
}

void print(const iris_model_msgs::msg::Answer & a)
{
  std::printf(
    "%d %08x %08x %u %u %d %d\n", a.label, bits(a.lower), bits(a.upper), a.kernel_evals, a.stage,
    a.certified, a.in_range);
}

void print(const m_2_model_msgs::msg::Answer & a)
{
  std::printf(
    "%08x %08x %08x %u %u %d\n", bits(a.value), bits(a.lower), bits(a.upper), a.kernel_evals,
    a.stage, a.in_range);
}

template<typename QueryT>
QueryT query_of(const std::vector<std::uint32_t> & words)
{
  QueryT query;
  std::memcpy(query.x.data(), words.data(), sizeof(query.x));
  return query;
}

}  // namespace

int main()
{
  using IrisQuery = iris_model_msgs::msg::Query;
  using M2Query = m_2_model_msgs::msg::Query;

  rclcpp::init(0, nullptr);
  rclcpp::executors::SingleThreadedExecutor executor;
  for (const auto & plugin : rclcpp_components::plugins) {
    executor.add_node(plugin.second());
  }
  const auto asker = std::make_shared<rclcpp::Node>("asker");
  executor.add_node(asker);
  const auto iris = asker->create_publisher<IrisQuery>("/iris_model/query", rclcpp::QoS(10));
  const auto m_2 = asker->create_publisher<M2Query>("/m_2_model/query", rclcpp::QoS(10));
  const auto labels = asker->create_subscription<iris_model_msgs::msg::Answer>(
    "/iris_model/answer", rclcpp::QoS(10),
    [](const iris_model_msgs::msg::Answer & answer) {print(answer);});
  const auto values = asker->create_subscription<m_2_model_msgs::msg::Answer>(
    "/m_2_model/answer", rclcpp::QoS(10),
    [](const m_2_model_msgs::msg::Answer & answer) {print(answer);});

  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream text(line);
    std::vector<std::uint32_t> words;
    for (std::uint32_t word = 0; text >> std::hex >> word; ) {
      words.push_back(word);
    }
    if (words.size() == IrisQuery().x.size()) {
      iris->publish(query_of<IrisQuery>(words));
    } else {
      m_2->publish(query_of<M2Query>(words));
    }
    executor.spin_once(std::chrono::milliseconds(1));
  }
  rclcpp::shutdown();
  return 0;
}
