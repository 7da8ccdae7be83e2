//! `locus lsp`: the server that editors talk to.
//!
//! Only the protocol is here: positions, URIs, versions, when to check and when to stop. What is said about a file is asked of
//! a [`session`](crate::session), which knows no protocol.

mod capabilities;
mod checker;
mod diagnostics;
mod documents;
mod jobs;
mod position;
mod requests;
mod server;
mod transport;
mod uri;
mod verdicts;
mod world;

use std::io::{BufReader, Read, Write};
use std::sync::mpsc;

use lsp_server::Message;

use transport::{Client, Incoming};

pub use position::{Encoding, Lines};

/// How the conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client asked the server to shut down, and then to exit.
    Asked,
    /// The client left without a word.
    Gone,
}

/// Something for the main loop to do.
#[derive(Debug)]
enum Event {
    /// A message of the client.
    Message(Message),
    /// An answer to what is no message.
    Malformed(serde_json::Value),
    /// The client is gone.
    Gone,
    /// The projects of the workspace were found.
    Indexed(world::Index),
    /// A request was answered.
    Answered(lsp_server::RequestId),
}

/// Serves a client until it ends the conversation.
pub fn serve(input: impl Read + Send + 'static, output: impl Write + Send + 'static) -> End {
    let (events, inbox) = mpsc::channel();
    let (outgoing, outbox) = mpsc::channel();
    let writer = std::thread::spawn(move || transport::write_all(output, &outbox));
    let reading = events.clone();
    // The reader waits for the client, who may never say anything again: nobody waits for the reader.
    std::thread::spawn(move || {
        transport::read_all(BufReader::new(input), |incoming| {
            let event = match incoming {
                Incoming::Message(message) => Event::Message(message),
                Incoming::Malformed(answer) => Event::Malformed(answer),
            };
            reading.send(event).is_ok()
        });
        let _ = reading.send(Event::Gone);
    });
    let end = server::Server::new(Client(outgoing), events).run(&inbox);
    // All that was said is written, unless the client is gone and nobody reads it.
    if end == End::Asked {
        let _ = writer.join();
    }
    end
}
