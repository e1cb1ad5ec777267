// Stands for diagnostic_msgs 4.2.4 (Humble).
#ifndef DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_STATUS_HPP_
#define DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_STATUS_HPP_

#include <string>
#include <utility>
#include <vector>

namespace diagnostic_msgs::msg
{

struct DiagnosticStatus
{
  static constexpr unsigned char OK = 0;
  static constexpr unsigned char WARN = 1;
  static constexpr unsigned char ERROR = 2;
  unsigned char level = OK;
  std::string name;
  std::string message;
  std::string hardware_id;
  std::vector<std::pair<std::string, std::string>> values;
};

}  // namespace diagnostic_msgs::msg

#endif  // DIAGNOSTIC_MSGS__MSG__DIAGNOSTIC_STATUS_HPP_
