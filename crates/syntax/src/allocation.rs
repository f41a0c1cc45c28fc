//! A hint to the allocator about the coming work.

/// The size of one allocation, below the largest that glibc learns from (32 MiB).
const LARGE: usize = 4 * 1024 * 1024;

/// Tells the allocator that freed memory will be used again soon.
///
/// glibc returns the end of its heap to the kernel as soon as 128 KiB of it are free, and asks for
/// it again with the next text: compiling an item takes a megabyte that is free again after each,
/// and the kernel clears every page of it each time. glibc learns from freed blocks: from now on
/// blocks of this size count as ordinary, and the heap keeps twice as much. The block is never
/// written to, so it costs no memory. Other allocators ignore it.
pub fn expect_reuse() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE)));
}
