// The two 16-bit float formats as storage types: they are widened to float to compute and rounded
// to nearest even when stored.
#pragma once

#include <bit>
#include <cstdint>

namespace fg {

struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) : bits(round(value)) {}
  operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }

 private:
  static uint16_t round(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value);
    if ((u & 0x7fffffff) > 0x7f800000) return 0x7fc0;  // every NaN becomes the quiet one
    return static_cast<uint16_t>((u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
};

struct Half {
  uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(round(value)) {}
  operator float() const { return widen(bits); }

 private:
  static float widen(uint16_t half) {
    uint32_t sign = uint32_t{half & 0x8000u} << 16, rest = half & 0x7fffu;
    // Scaling by 2^112 turns the exponent bias of 15 into 127 and makes subnormals exact.
    float scaled = std::bit_cast<float>(rest << 13) * 0x1p112f;
    uint32_t bits =
        rest >= 0x7c00 ? 0x7f800000 | (rest & 0x3ff) << 13 : std::bit_cast<uint32_t>(scaled);
    return std::bit_cast<float>(sign | bits);
  }

  static uint16_t round(float value) {
    uint32_t u = std::bit_cast<uint32_t>(value), sign = u >> 16 & 0x8000;
    u &= 0x7fffffff;
    if (u > 0x7f800000) return static_cast<uint16_t>(sign | 0x7e00);
    if (u >= 0x477ff000) return static_cast<uint16_t>(sign | 0x7c00);
    if (u < 0x38800000) {  // subnormal: adding 0.5 aligns the mantissa so that the FPU rounds it
      float aligned = std::bit_cast<float>(u) + 0.5f;
      return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000));
    }
    u += 0xc8000fff + (u >> 13 & 1);
    return static_cast<uint16_t>(sign | u >> 13);
  }
};

}  // namespace fg
