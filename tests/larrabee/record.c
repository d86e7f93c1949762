/* Records what AVX-512, the descendant of Larrabee's vector instructions, answers.
 *
 * Reads cases from standard input and writes results to standard output, both as 32-bit words in the order of the
 * structures below. Build: gcc -O1 -mavx512f record.c -o record. See golden.py, which drives it.
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LANES 16
#define TABLE 64

typedef struct {
    uint32_t old[LANES], a[LANES], b[LANES], index[LANES], table[TABLE], mask, start;
} Case;

typedef struct {
    uint32_t masked_add[LANES], multiply_low[LANES], float_add[LANES], fused[LANES];
    uint32_t compress[LANES], expand[LANES], compress_store[TABLE], gather[LANES], scatter[TABLE];
    uint32_t dacb[LANES], float16[LANES], uint8[LANES], sint16[LANES], to_int[LANES];
    uint32_t float_compare[4], int_compare[4], zero_test[2];
} Result;

int main(void) {
    Case c;
    Result r;
    while (fread(&c, sizeof c, 1, stdin) == 1) {
        __m512i old = _mm512_loadu_si512(c.old), a = _mm512_loadu_si512(c.a), b = _mm512_loadu_si512(c.b);
        __m512i index = _mm512_loadu_si512(c.index);
        __m512 fa = _mm512_castsi512_ps(a), fb = _mm512_castsi512_ps(b), sum = _mm512_castsi512_ps(old);
        __mmask16 mask = (__mmask16)c.mask, less;

        _mm512_storeu_si512(r.masked_add, _mm512_mask_add_epi32(old, mask, a, b));
        _mm512_storeu_si512(r.multiply_low, _mm512_mullo_epi32(a, b));
        _mm512_storeu_ps(r.float_add, _mm512_add_ps(fa, fb));
        /* Written out: a compiler may choose another order of operands, which changes which NaN comes through. */
        __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(fa), "v"(fb));
        _mm512_storeu_ps(r.fused, sum);
        _mm512_storeu_si512(r.compress, _mm512_mask_compress_epi32(old, mask, a));
        _mm512_storeu_si512(r.expand, _mm512_mask_expand_epi32(old, mask, a));
        memcpy(r.compress_store, c.table, sizeof c.table);
        _mm512_mask_compressstoreu_epi32(r.compress_store + c.start, mask, a);
        _mm512_storeu_si512(r.gather, _mm512_mask_i32gather_epi32(old, mask, index, c.table, 4));
        memcpy(r.scatter, c.table, sizeof c.table);
        _mm512_mask_i32scatter_epi32(r.scatter, mask, index, a, 4);
        _mm512_storeu_si512(r.dacb, _mm512_shuffle_epi32(a, (_MM_PERM_ENUM)0xC9));
        _mm512_storeu_ps(r.float16, _mm512_cvtph_ps(_mm256_loadu_si256((void *)c.table)));
        _mm512_storeu_si512(r.uint8, _mm512_cvtepu8_epi32(_mm_loadu_si128((void *)c.table)));
        _mm512_storeu_si512(r.sint16, _mm512_cvtepi16_epi32(_mm256_loadu_si256((void *)c.table)));
        _mm512_storeu_si512(r.to_int, _mm512_cvtps_epi32(fa));
        less = _mm512_cmp_ps_mask(fa, fb, _CMP_LT_OS);
        r.float_compare[0] = _mm512_cmp_ps_mask(fa, fb, _CMP_EQ_OQ);
        r.float_compare[1] = less;
        r.float_compare[2] = _mm512_cmp_ps_mask(fa, fb, _CMP_LE_OS);
        r.float_compare[3] = _mm512_cmp_ps_mask(fa, fb, _CMP_UNORD_Q);
        r.int_compare[0] = _mm512_cmpeq_epi32_mask(a, b);
        r.int_compare[1] = _mm512_cmplt_epi32_mask(a, b);
        r.int_compare[2] = _mm512_cmple_epi32_mask(a, b);
        r.int_compare[3] = _mm512_test_epi32_mask(a, b);
        r.zero_test[0] = _mm512_kortestz(mask, less);
        r.zero_test[1] = _mm512_kortestc(mask, less);
        if (fwrite(&r, sizeof r, 1, stdout) != 1)
            return 1;
    }
    return 0;
}
