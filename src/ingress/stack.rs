//! What stands around every request, and the whole of serving.

use std::any::Any;
use std::convert::Infallible;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::{ServiceBuilder, service_fn};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::{info, warn};

use super::reply::{self, HttpReply};
use super::{Drain, IngressState, listen};

/// Serves the public listener until `signal`, then drains: the listener stays open for `server.drain_delay`, then
/// requests in flight, and work whose client has gone, have `server.drain_timeout`. Returns `true` if nothing was cut.
pub async fn serve(tcp: TcpListener, state: Arc<IngressState>, signal: CancellationToken) -> bool {
    let drain = Drain::new(&state.server, signal);
    let metrics = Arc::clone(&state.metrics);
    let answer = {
        let state = Arc::clone(&state);
        service_fn(move |request| Arc::clone(&state).answer(request).map(Ok::<HttpReply, Infallible>))
    };
    // The limits of a request are steps of `IngressState::answer` and no layers: the slot of a request must outlive
    // the reply's future (a client that hangs up drops it while the work goes on), the size of a body is its
    // endpoint's, and each refusal is counted under its endpoint.
    let service = ServiceBuilder::new()
        // Outermost: a fault of ours in anything below answers 500, and the connection and the process live on.
        .layer(CatchPanicLayer::custom(move |_: Box<dyn Any + Send>| {
            metrics.unrouted("panic");
            reply::crashed()
        }))
        .service(answer);
    let drained = listen(tcp, state.tls.clone(), state.limits(), service, &drain).await;
    state.tasks.close();
    let finished = tokio::select! {
        () = state.tasks.wait() => true,
        () = tokio::time::sleep_until(drained.deadline) => false,
    };
    if finished {
        info!("ingress.drained");
    } else {
        warn!(tasks = state.tasks.len(), "ingress.tasks_cut");
    }
    drained.clean && finished
}
