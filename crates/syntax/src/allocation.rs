//! What the allocator is told about the work that comes.

/// Bytes of one allocation, below the most that glibc learns from (32 MiB).
const LARGE: usize = 4 * 1024 * 1024;

/// Says that memory which is freed will be wanted again soon.
///
/// glibc hands the end of its heap back to the kernel as soon as 128 KiB of it are free, and asks for it
/// again with the next text: to compile an item takes a megabyte that is free again after each, and the
/// kernel clears every page of it each time. It learns from what is freed: from now on blocks of this size
/// count as ordinary, and the heap keeps twice as much. Nobody writes to this block, so it costs no
/// memory. Other allocators take no notice.
pub fn expect_reuse() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE)));
}
