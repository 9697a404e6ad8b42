//! A running gateway: every part, built in the order of the data's way and ended in the same order.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::StartError;
use crate::admin;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::dispatch::Dispatcher;
use crate::handler::{Handler, Registry};
use crate::ingress;
use crate::observe::{Measured, Metrics, Monitor, QueueName};
use crate::process::Processor;
use crate::receive::{Receiver, Wake};
use crate::store::{self, ServeLock, Store};
use crate::worker::{self, InboxJob, OutboxJob};
