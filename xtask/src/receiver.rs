//! Somebody on this machine who is told what happens: answers at once, keeps connections open, and is away on demand.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use anyhow::{Context as _, Result};

const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\naway";

/// A request that was answered with success.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) path: String,
    /// The same for each repeat of one delivery.
    pub(crate) key: String,
    pub(crate) body: Vec<u8>,
}

#[derive(Default)]
struct State {
    count: AtomicU64,
    is_away: AtomicBool,
    keeps: bool,
    arrivals: Mutex<Vec<Arrival>>,
}

/// A server that runs until the program ends.
#[derive(Clone)]
pub(crate) struct Receiver {
    address: SocketAddr,
    state: Arc<State>,
}

impl Receiver {
    /// With `keeps`, everything that arrives is kept; without, it is only counted.
    pub(crate) fn start(keeps: bool) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let receiver = Self { address, state: Arc::new(State { keeps, ..State::default() }) };
        let state = Arc::clone(&receiver.state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&state);
                // Whoever ends a connection in the middle is the server that was killed.
                std::thread::spawn(move || state.serve(&stream).is_ok());
            }
        });
        Ok(receiver)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// How much has arrived.
    pub(crate) fn count(&self) -> u64 {
        self.state.count.load(Ordering::SeqCst)
    }

    /// Refuses everything from now on, or no longer.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.state.is_away.store(is_away, Ordering::SeqCst);
    }

    /// Everything that has arrived, in order.
    pub(crate) fn arrivals(&self) -> Vec<Arrival> {
        self.state.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl State {
    fn serve(&self, stream: &TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        let mut writer = stream;
        loop {
            let Some(arrival) = request(&mut reader)? else { return Ok(()) };
            if self.is_away.load(Ordering::SeqCst) {
                writer.write_all(AWAY)?;
                continue;
            }
            // Before the answer: what the server knows to have arrived has.
            if self.keeps {
                let mut all = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
                all.push(arrival);
            }
            self.count.fetch_add(1, Ordering::SeqCst);
            writer.write_all(TAKEN)?;
        }
    }
}

/// The next request of a connection; nothing at its end.
fn request(reader: &mut BufReader<&TcpStream>) -> Result<Option<Arrival>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).context("a request without a path")?.to_owned();
    let (mut length, mut key) = (0, String::new());
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse()?;
        } else if name.eq_ignore_ascii_case("idempotency-key") {
            value.clone_into(&mut key);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Arrival { path, key, body }))
}
