// Stands for diagnostic_msgs 4.2.4 (Humble).
#ifndef DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_ARRAY_HPP_
#define DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_ARRAY_HPP_

#include <vector>

#include "diagnostic_msgs/msg/diagnostic_status.hpp"

namespace diagnostic_msgs::msg
{

struct DiagnosticArray
{
  std::vector<DiagnosticStatus> status;
};

}  // namespace diagnostic_msgs::msg

#endif  // DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_ARRAY_HPP_
