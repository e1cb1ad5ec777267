// Stands for the parts of rclcpp that a model's node uses: names and signatures as in rclcpp
// 16.0.11 (Humble). Messages stay in the process; an executor delivers them.
#ifndef RCLCPP__RCLCPP_HPP_
#define RCLCPP__RCLCPP_HPP_

#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rclcpp
{

/// What is registered for a topic, and what has been sent and not yet delivered.
struct Bus
{
  bool valid = false;
  std::map<std::string, std::vector<std::function<void(const void *)>>> subscriptions;
  std::map<std::string, std::size_t> publishers;
  std::deque<std::function<void()>> pending;
};
inline Bus bus;

inline void init(int, char const * const *) {bus.valid = true;}
inline void shutdown() {bus = Bus();}

class NodeOptions {};
class Logger {};
class Clock {};

class QoS
{
public:
  explicit QoS(std::size_t depth) {if (depth == 0) {throw std::invalid_argument("depth");}}
};

template<typename MessageT>
class Publisher
{
public:
  using SharedPtr = std::shared_ptr<Publisher<MessageT>>;
  explicit Publisher(std::string topic) : topic_(std::move(topic)) {bus.publishers[topic_]++;}
  void publish(std::unique_ptr<MessageT> message) {publish(*message);}
  void publish(const MessageT & message)
  {
    bus.pending.push_back(
      [topic = topic_, message]() {
        for (const auto & callback : bus.subscriptions[topic]) {callback(&message);}
      });
  }
  std::size_t get_subscription_count() const {return bus.subscriptions[topic_].size();}

private:
  std::string topic_;
};

template<typename MessageT>
class Subscription
{
public:
  using SharedPtr = std::shared_ptr<Subscription<MessageT>>;
  explicit Subscription(std::string topic) : topic_(std::move(topic)) {}
  std::size_t get_publisher_count() const {return bus.publishers[topic_];}

private:
  std::string topic_;
};

class TimerBase
{
public:
  using SharedPtr = std::shared_ptr<TimerBase>;
  std::function<void()> callback;
};

class Node
{
public:
  using SharedPtr = std::shared_ptr<Node>;
  explicit Node(const std::string & name, const NodeOptions & = NodeOptions()) : name_(name)
  {
    // rmw_validate_node_name: letters, digits and underscores, no digit first.
    if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") !=
      std::string::npos)
    {
      throw std::invalid_argument(name);
    }
  }
  virtual ~Node() = default;

  template<typename ParameterT>
  ParameterT declare_parameter(const std::string &, const ParameterT & value) {return value;}

  template<typename MessageT>
  typename Publisher<MessageT>::SharedPtr create_publisher(const std::string & topic, const QoS &)
  {
    return std::make_shared<Publisher<MessageT>>(expanded(topic));
  }

  template<typename MessageT, typename CallbackT>
  typename Subscription<MessageT>::SharedPtr create_subscription(
    const std::string & topic, const QoS &, CallbackT callback)
  {
    bus.subscriptions[expanded(topic)].push_back(
      [callback](const void * message) {callback(*static_cast<const MessageT *>(message));});
    return std::make_shared<Subscription<MessageT>>(expanded(topic));
  }

  template<typename RepT, typename RatioT>
  TimerBase::SharedPtr create_wall_timer(
    std::chrono::duration<RepT, RatioT>, std::function<void()> callback)
  {
    timers_.push_back(std::make_shared<TimerBase>());
    timers_.back()->callback = std::move(callback);
    return timers_.back();
  }

  Logger get_logger() const {return Logger();}
  std::shared_ptr<Clock> get_clock() {return std::make_shared<Clock>();}
  void run_timers() {for (const auto & timer : timers_) {timer->callback();}}

private:
  std::string expanded(const std::string & topic) const
  {
    return topic.rfind("~/", 0) == 0 ? "/" + name_ + topic.substr(1) : topic;
  }
  std::string name_;
  std::vector<TimerBase::SharedPtr> timers_;
};

namespace executors
{

/// Each turn runs every timer once, then delivers what was sent.
class SingleThreadedExecutor
{
public:
  SingleThreadedExecutor()
  {
    if (!bus.valid) {throw std::runtime_error("context argument is null");}
  }
  void add_node(std::shared_ptr<Node> node) {nodes_.push_back(std::move(node));}
  void spin_once(std::chrono::nanoseconds)
  {
    for (const auto & node : nodes_) {node->run_timers();}
    while (!bus.pending.empty()) {
      const auto deliver = bus.pending.front();
      bus.pending.pop_front();
      deliver();
    }
  }

private:
  std::vector<std::shared_ptr<Node>> nodes_;
};

}  // namespace executors
}  // namespace rclcpp

#define RCLCPP_FATAL(logger, ...) \
  do {static_cast<void>(logger); std::fprintf(stderr, __VA_ARGS__); std::fputc('\n', stderr);} \
  while (0)
#define RCLCPP_WARN_THROTTLE(logger, clock, duration, ...) \
  do {static_cast<void>(clock); static_cast<void>(duration); RCLCPP_FATAL(logger, __VA_ARGS__);} \
  while (0)

#endif  // RCLCPP__RCLCPP_HPP_
