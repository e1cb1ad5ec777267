// Stands for rclcpp_components 16.0.11 (Humble): remembers how a node is made.
#ifndef RCLCPP_COMPONENTS__REGISTER_NODE_MACRO_HPP_
#define RCLCPP_COMPONENTS__REGISTER_NODE_MACRO_HPP_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "rclcpp/rclcpp.hpp"

namespace rclcpp_components
{
inline std::map<std::string, std::function<rclcpp::Node::SharedPtr()>> plugins;
}

#define RCLCPP_COMPONENTS_REGISTER_NODE(NodeClass) \
  [[maybe_unused]] static const bool registered = rclcpp_components::plugins.emplace( \
    #NodeClass, []() {return std::make_shared<NodeClass>(rclcpp::NodeOptions());}).second;

#endif  // RCLCPP_COMPONENTS__REGISTER_NODE_MACRO_HPP_
