/* Bytes of shared memory layouts (shm/bytes.c) against Triton's own LinearLayout of each: tests/shm/layout_bases.py prints the table. A line: the
 * type, and for each bit of the element's number in memory its coordinates. */
#include "check.h"
#include "shm/events.h"
#include <stdlib.h>
#include <string.h>

static const struct { const char *type, *bases; } TABLE[] = {
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,0 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,0 8,0 16,0 32,0 64,0" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,0 8,0 16,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 0,2 0,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 0,1 0,2 0,4 0,8 0,16" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 0,2 0,4 0,8" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,8 2,16 4,0 8,0 16,0 32,0 64,0" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,8 2,0 4,0 8,0 16,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 8,1 16,2 32,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 8,1 16,2 32,4 0,8 0,16" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 8,1 16,2 0,4 0,8" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,8 4,16 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 64,0" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,8 4,0 8,0 16,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 8,2 16,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 0,1 8,2 16,4 0,8 0,16" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 8,2 16,4 0,8" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 4, perPhase = 4, maxPhase = 2, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,4 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 4, perPhase = 4, maxPhase = 2, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,4 8,0 16,0 32,0 64,0" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 4, perPhase = 4, maxPhase = 2, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,4 8,0 16,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 4, perPhase = 4, maxPhase = 2, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 0,2 4,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 4, perPhase = 4, maxPhase = 2, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 0,1 0,2 4,4 0,8 0,16" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 4, perPhase = 4, maxPhase = 2, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 0,2 4,4 0,8" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,8 8,16 16,32 32,0" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,8 8,16 16,0 32,0 64,0" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [1, 0]}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 0,2 8,4 16,8 32,16 0,32" },
    { "!ttg.memdesc<128x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 0,1 0,2 8,4 16,8 32,16" },
    { "!ttg.memdesc<32x16xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 4, maxPhase = 8, order = [0, 1]}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 0,2 8,4 16,8" },
    { "!ttg.memdesc<16xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>", "1 2 4 8" },
    { "!ttg.memdesc<128x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,0 2,0 4,0 8,0 16,0 32,0 64,0" },
    { "!ttg.memdesc<64x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,0 8,0 16,0 32,0" },
    { "!ttg.memdesc<256x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0" },
    { "!ttg.memdesc<512x32xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<16x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,0 2,0 4,0 8,0" },
    { "!ttg.memdesc<64x16xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,0 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 0,1 0,2 0,4 0,8 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 0,2 0,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<256x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 0,1 0,2 0,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<512x32xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 0,1 0,2 0,4 0,8 0,16 256,0" },
    { "!ttg.memdesc<16x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 0,1 0,2 0,4 0,8 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x16xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 0,2 0,4 0,8" },
    { "!ttg.memdesc<128x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,16 8,0 16,0 32,0 64,0 0,32 0,64" },
    { "!ttg.memdesc<64x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,16 8,0 16,0 32,0 0,32" },
    { "!ttg.memdesc<256x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,16 8,0 16,0 32,0 64,0 128,0 0,32" },
    { "!ttg.memdesc<512x32xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,16 8,0 16,0 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<16x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,16 8,0 0,32 0,64" },
    { "!ttg.memdesc<128x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 0,2 16,4 0,8 0,16 0,32 0,64 32,0 64,0" },
    { "!ttg.memdesc<64x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 0,2 16,4 0,8 0,16 0,32 32,0" },
    { "!ttg.memdesc<256x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 0,2 16,4 0,8 0,16 0,32 32,0 64,0 128,0" },
    { "!ttg.memdesc<512x32xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 0,2 16,4 0,8 0,16 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<64x16xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 0,2 16,4 0,8 32,0" },
    { "!ttg.memdesc<128x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,16 4,32 8,0 16,0 32,0 64,0 0,64" },
    { "!ttg.memdesc<64x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,16 4,32 8,0 16,0 32,0" },
    { "!ttg.memdesc<256x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,16 4,32 8,0 16,0 32,0 64,0 128,0" },
    { "!ttg.memdesc<16x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,16 4,32 8,0 0,64" },
    { "!ttg.memdesc<128x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 16,2 32,4 0,8 0,16 0,32 0,64 64,0" },
    { "!ttg.memdesc<64x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 16,2 32,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<256x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 16,2 32,4 0,8 0,16 0,32 64,0 128,0" },
    { "!ttg.memdesc<512x32xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 16,2 32,4 0,8 0,16 64,0 128,0 256,0" },
    { "!ttg.memdesc<64x16xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 16,2 32,4 0,8" },
    { "!ttg.memdesc<128x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,16 2,32 4,64 8,0 16,0 32,0 64,0" },
    { "!ttg.memdesc<16x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,16 2,32 4,64 8,0" },
    { "!ttg.memdesc<128x128xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 16,1 32,2 64,4 0,8 0,16 0,32 0,64" },
    { "!ttg.memdesc<256x64xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 16,1 32,2 64,4 0,8 0,16 0,32 128,0" },
    { "!ttg.memdesc<512x32xf8E5M2, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 16,1 32,2 64,4 0,8 0,16 128,0 256,0" },
    { "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,0 2,0 4,0 8,0 16,0 32,0 64,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,0 8,0 16,0 32,0" },
    { "!ttg.memdesc<256x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0" },
    { "!ttg.memdesc<512x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<16x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,0 2,0 4,0 8,0" },
    { "!ttg.memdesc<64x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,0 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 0,1 0,2 0,4 0,8 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 0,2 0,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<256x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 0,1 0,2 0,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<512x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 0,1 0,2 0,4 0,8 0,16 256,0" },
    { "!ttg.memdesc<16x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 0,1 0,2 0,4 0,8 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 0,1 0,2 0,4 0,8" },
    { "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 64,0 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 0,16 0,32" },
    { "!ttg.memdesc<256x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 64,0 128,0 0,16 0,32" },
    { "!ttg.memdesc<512x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0 64,0 128,0 256,0 0,16" },
    { "!ttg.memdesc<16x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,8 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 0,16 0,32 0,64 16,0 32,0 64,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 0,16 0,32 16,0 32,0" },
    { "!ttg.memdesc<256x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 0,16 0,32 16,0 32,0 64,0 128,0" },
    { "!ttg.memdesc<512x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 0,16 16,0 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<16x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 0,1 0,2 8,4 0,8 16,0 32,0" },
    { "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 64,0 0,32 0,64" },
    { "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 0,32" },
    { "!ttg.memdesc<256x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 64,0 128,0 0,32" },
    { "!ttg.memdesc<512x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 16,0 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<16x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,8 4,16 8,0 0,32 0,64" },
    { "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 8,2 16,4 0,8 0,16 0,32 0,64 32,0 64,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 8,2 16,4 0,8 0,16 0,32 32,0" },
    { "!ttg.memdesc<256x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 8,2 16,4 0,8 0,16 0,32 32,0 64,0 128,0" },
    { "!ttg.memdesc<512x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 8,2 16,4 0,8 0,16 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<64x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 0,1 8,2 16,4 0,8 32,0" },
    { "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 64,0 0,64" },
    { "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0" },
    { "!ttg.memdesc<256x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 16,0 32,0 64,0 128,0" },
    { "!ttg.memdesc<16x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,8 2,16 4,32 8,0 0,64" },
    { "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 8,1 16,2 32,4 0,8 0,16 0,32 0,64 64,0" },
    { "!ttg.memdesc<64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 8,1 16,2 32,4 0,8 0,16 0,32" },
    { "!ttg.memdesc<256x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 8,1 16,2 32,4 0,8 0,16 0,32 64,0 128,0" },
    { "!ttg.memdesc<512x32xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 8,1 16,2 32,4 0,8 0,16 64,0 128,0 256,0" },
    { "!ttg.memdesc<64x16xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem, mutable>", "1,0 2,0 4,0 8,0 16,0 32,0 8,1 16,2 32,4 0,8" },
    { "!ttg.memdesc<128x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,0 2,0 4,0 8,0 16,0 32,0 64,0" },
    { "!ttg.memdesc<64x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,0 8,0 16,0 32,0" },
    { "!ttg.memdesc<256x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0" },
    { "!ttg.memdesc<512x32xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,0 2,0 4,0 8,0 16,0 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<16x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 0,32 0,64 1,0 2,0 4,0 8,0" },
    { "!ttg.memdesc<64x16xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,0 4,0 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 1,0 2,0 4,4 8,0 16,0 32,0 64,0 0,8 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 1,0 2,0 4,4 8,0 16,0 32,0 0,8 0,16 0,32" },
    { "!ttg.memdesc<256x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 1,0 2,0 4,4 8,0 16,0 32,0 64,0 128,0 0,8 0,16 0,32" },
    { "!ttg.memdesc<512x32xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 1,0 2,0 4,4 8,0 16,0 32,0 64,0 128,0 256,0 0,8 0,16" },
    { "!ttg.memdesc<16x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 1,0 2,0 4,4 8,0 0,8 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x16xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 1,0 2,0 4,4 8,0 16,0 32,0 0,8" },
    { "!ttg.memdesc<128x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,4 4,8 8,0 16,0 32,0 64,0 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,4 4,8 8,0 16,0 32,0 0,16 0,32" },
    { "!ttg.memdesc<256x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,4 4,8 8,0 16,0 32,0 64,0 128,0 0,16 0,32" },
    { "!ttg.memdesc<512x32xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,4 4,8 8,0 16,0 32,0 64,0 128,0 256,0 0,16" },
    { "!ttg.memdesc<16x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,4 4,8 8,0 0,16 0,32 0,64" },
    { "!ttg.memdesc<64x16xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 1,0 2,4 4,8 8,0 16,0 32,0" },
    { "!ttg.memdesc<128x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,4 2,8 4,16 8,0 16,0 32,0 64,0 0,32 0,64" },
    { "!ttg.memdesc<64x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,4 2,8 4,16 8,0 16,0 32,0 0,32" },
    { "!ttg.memdesc<256x64xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,4 2,8 4,16 8,0 16,0 32,0 64,0 128,0 0,32" },
    { "!ttg.memdesc<512x32xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,4 2,8 4,16 8,0 16,0 32,0 64,0 128,0 256,0" },
    { "!ttg.memdesc<16x128xf32, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>, #smem, mutable>", "0,1 0,2 0,4 0,8 0,16 1,4 2,8 4,16 8,0 0,32 0,64" },
};

enum { READ_AT_LEAST = 90 };

int main(void)
{
    int read = 0, wrong = 0;
    for (size_t i = 0; i < PR_LEN(TABLE); i++) {
        pr_arena *arena = pr_arena_new(0, NULL);
        const char *text = pr_arena_printf(arena,
            "#smem = #ttg.shared_memory\nmodule attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32} {\n"
            "  tt.func public @k() {\n    %%a = ttg.local_alloc : () -> %s\n    tt.return\n  }\n}\n", TABLE[i].type);
        pr_error e = { 0 };
        pr_ir *ir = pr_ir_parse(arena, text, strlen(text), "t", NULL, &e);
        const char *why = NULL;
        const pr_op *func = ir ? pr_ir_kernel(ir, (pr_str){ 0 }, &why) : NULL;
        const pr_shm_prog *p = func ? pr_shm_read(arena, ir, func) : NULL;
        if (!p) fprintf(stderr, "%s\n", text);
        CHECK(p && p->allocs.n == 1 && !p->refusals.n);
        const pr_shm_alloc *a = &p->allocs.data[0];
        int64_t base[32][2] = { { 0 } };
        int n = 0;
        for (const char *s = TABLE[i].bases; *s; n++) {
            char *end = NULL;
            for (int d = 0; d < a->rank; d++) {
                base[n][d] = strtol(s, &end, 10);
                s = end + (*end == ',');
            }
            while (*s == ' ') s++;
        }
        if (pr_shm_first_byte(a, (int64_t[]){ 0, 0 }) < 0) { pr_arena_free(arena); continue; }
        read++;
        for (int64_t k = 0; k < INT64_C(1) << n; k++) {
            int64_t at[2] = { 0, 0 };
            for (int b = 0; b < n; b++)
                for (int d = 0; d < 2 && k >> b & 1; d++) at[d] ^= base[b][d];
            wrong += pr_shm_first_byte(a, at) != k * (a->elem_bits / 8);
        }
        pr_arena_free(arena);
    }
    printf("%d of %d layouts read\n", read, (int)PR_LEN(TABLE));
    CHECK(!wrong);
    CHECK(read >= READ_AT_LEAST);
    return check_done();
}
