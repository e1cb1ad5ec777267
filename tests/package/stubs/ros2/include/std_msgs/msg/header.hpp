// Stands for std_msgs 4.2.4 (Humble).
#ifndef STD_MSGS__MSG__HEADER_HPP_
#define STD_MSGS__MSG__HEADER_HPP_

#include <string>

namespace std_msgs::msg
{

struct Header
{
  std::string frame_id;
};

}  // namespace std_msgs::msg

#endif  // STD_MSGS__MSG__HEADER_HPP_
