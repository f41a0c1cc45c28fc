//! Small changes to an input, several at once.
//!
//! The same number gives the same input, so that a finding can be reproduced by its number.

use fastrand::Rng;

/// Values at the edges of types.
const EDGES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b' ', b'"'];

/// The length of most inputs, in bytes. Short ones reach as much of a parser, and many more of them
/// fit into a minute.
const SHORT: usize = 256;

/// One input in this many is as long as its target allows.
const LONG_ONES: u32 = 32;

/// Makes input number `index` from `seeds`, at most `longest` bytes long.
pub fn create_input(
    seeds: &[Vec<u8>],
    dictionary: &[&str],
    index: u64,
    longest: usize,
    buffer: &mut Vec<u8>,
) {
    let mut random = Rng::with_seed(index.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ index);
    buffer.clear();
    let longest = match random.u32(0..LONG_ONES) {
        0 => longest,
        _ => longest.min(SHORT),
    };
    if let Some(seed) = random.choice(seeds) {
        let part = part_of(seed, longest, &mut random);
        buffer.extend_from_slice(&part[..part.len().min(longest)]);
    }
    let changes = 1 << random.u32(0..5);
    for _ in 0..changes {
        mutate_input(buffer, seeds, dictionary, &mut random);
    }
    buffer.truncate(longest);
}

/// Returns a seed from one of its lines on: from the first one for half of the seeds that are too
/// long.
fn part_of<'s>(seed: &'s [u8], longest: usize, random: &mut Rng) -> &'s [u8] {
    if seed.len() <= longest || random.bool() {
        return seed;
    }
    let rest = &seed[random.usize(0..=seed.len() - longest)..];
    let start = rest.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    &rest[start..]
}

/// Makes one change.
fn mutate_input(buffer: &mut Vec<u8>, seeds: &[Vec<u8>], dictionary: &[&str], random: &mut Rng) {
    let at = random.usize(0..=buffer.len());
    match random.u8(0..12) {
        0 => {
            if let Some(byte) = buffer.get_mut(at) {
                *byte ^= 1 << random.u8(0..8);
            }
        }
        1 => {
            if let Some(byte) = buffer.get_mut(at) {
                *byte = random.u8(..);
            }
        }
        2 => {
            if let Some(byte) = buffer.get_mut(at) {
                *byte = *random.choice(&EDGES).unwrap_or(&0);
            }
        }
        3 => {
            let end = (at + random.usize(1..=16)).min(buffer.len());
            buffer.drain(at..end);
        }
        4 => {
            let end = (at + random.usize(1..=64)).min(buffer.len());
            let piece = buffer[at..end].to_vec();
            insert_piece(buffer, random.usize(0..=buffer.len()), &piece);
        }
        // A repeated piece: it shows whether a parser is linear.
        5 if random.u8(0..8) == 0 => {
            let end = (at + random.usize(1..=8)).min(buffer.len());
            let piece = buffer[at..end].repeat(random.usize(1..=256));
            insert_piece(buffer, at, &piece);
        }
        6 => {
            let byte = random.u8(..);
            insert_piece(buffer, at, &[byte]);
        }
        7 => {
            if let Some(other) = random.choice(seeds) {
                let from = random.usize(0..=other.len());
                let to = (from + random.usize(0..=256)).min(other.len());
                insert_piece(buffer, at, &other[from..to]);
            }
        }
        8 => buffer.truncate(at),
        _ => {
            if let Some(word) = random.choice(dictionary) {
                if random.bool() {
                    insert_piece(buffer, at, word.as_bytes());
                } else {
                    let end = (at + word.len()).min(buffer.len());
                    buffer.splice(at..end, word.bytes());
                }
            }
        }
    }
}

fn insert_piece(buffer: &mut Vec<u8>, at: usize, piece: &[u8]) {
    buffer.splice(at..at, piece.iter().copied());
}
