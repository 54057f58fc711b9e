/* A convolution as the vanilla accelerator of TVM's UMA tutorial has it: batch 1, one group, strides 1,
 * "same" padding, no bias. Writes how often it was called to the file that $VANILLA_CALLS names. */
void vanilla_conv2dnchw(const float* ifmap, const float* weights, float* result, int oc, int iw, int ih,
                        int ic, int kh, int kw);
