//! A firmware object is read without waiting for the card: the answer comes through a descriptor, here one of tokio's.
//!
//! ```console
//! # cargo run --example async_query -- mlx5_0
//! ```
#![forbid(unsafe_code)]

use std::error::Error;

use tokio::io::{Interest, unix::AsyncFd};
use uverbs::{
    Device,
    devx::{Answer, AsyncCommands, Inbox},
    flow::FlowCounter,
};
use uverbs_uapi::prm::{
    MLX5_CMD_OP_QUERY_FLOW_COUNTER, query_flow_counter_in as query_in, query_flow_counter_out as query_out,
    traffic_counter,
};

/// The next answer, whenever it comes.
async fn next(answers: &AsyncFd<AsyncCommands>) -> Result<Answer, Box<dyn Error>> {
    loop {
        let mut ready = answers.readable().await?;
        match answers.get_ref().read()? {
            Some(answer) => return Ok(answer),
            None => ready.clear_ready(),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let name = std::env::args().nth(1).ok_or("usage: async_query DEVICE")?;
    let context = Device::by_name(&name)?.open_devx()?;
    let counter = FlowCounter::create(&context)?;
    #[expect(
        deprecated,
        reason = "its successor is unsafe, for types that swap their descriptor: this one does not"
    )]
    let answers = AsyncFd::with_interest(AsyncCommands::create(&context)?, Interest::READABLE)?;

    let mut inbox = Inbox::<{ query_in::SIZE }>::new(MLX5_CMD_OP_QUERY_FLOW_COUNTER);
    inbox.set(query_in::FLOW_COUNTER_ID, counter.id().into());
    let length = u16::try_from(query_out::SIZE + traffic_counter::SIZE)?;
    for id in 0..3 {
        counter.object().query_async(answers.get_ref(), id, inbox.as_ref(), length)?;
    }
    for _ in 0..3 {
        let answer = next(&answers).await?;
        if let Some(refused) = answer.refused(MLX5_CMD_OP_QUERY_FLOW_COUNTER) {
            return Err(refused.into());
        }
        let packets = traffic_counter::PACKETS.get(&answer.outbox[query_out::SIZE..]);
        println!("answer {}: {packets} packets", answer.id);
    }
    Ok(())
}
