"""Meaning: threads that carry out programs, and the functions that answer their messages."""

from gen6_bridge.unit.channels import GATES, ChannelCounts
from gen6_bridge.unit.execution_unit import LONGEST, ExecutionUnit, StretchSubscriber, Subscriber, thread_shape
from gen6_bridge.unit.loading import dispatched, loaded
from gen6_bridge.unit.messages import BlockMemory, MessageRecorder, Replies, Request, SharedFunctions
from gen6_bridge.unit.shared import RunFunctions

__all__ = [
    "GATES",
    "LONGEST",
    "BlockMemory",
    "ChannelCounts",
    "ExecutionUnit",
    "MessageRecorder",
    "Replies",
    "Request",
    "RunFunctions",
    "SharedFunctions",
    "StretchSubscriber",
    "Subscriber",
    "dispatched",
    "loaded",
    "thread_shape",
]
